// The answers of a REST catalog: any bytes end in a table, in names, or in one error that says something.
//
// The first byte is the answer's code: below 128 it is 200.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>

#include "iceberg/rest/rest_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using caudal::iceberg::RestAnswer;
  if (size == 0) return 0;
  constexpr int kCodes[] = {400, 401, 403, 404, 409, 419, 429, 500, 502, 503};
  caudal::HttpAnswer http;
  http.code = data[0] < 128 ? 200 : kCodes[data[0] % std::size(kCodes)];
  http.body.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  const RestAnswer answer = caudal::iceberg::ReadAnswer(std::move(http), "GET fuzz");
  if (!answer.ok()) {
    const caudal::Status failure = caudal::iceberg::Failure(answer);
    if (failure.ok() || failure.message().empty()) std::abort();
  }
  const auto table = caudal::iceberg::TableOf(answer.json);
  if (!table.ok() && table.status().message().empty()) std::abort();
  for (const std::string& name : caudal::iceberg::TableNamesOf(answer.json)) {
    if (name.empty()) std::abort();
  }
  (void)caudal::iceberg::NamespacesOf(answer.json);
  (void)caudal::iceberg::GrantOf(answer.json, answer.json);
  (void)caudal::iceberg::TextOf(answer.json, "access_token");
  return 0;
}
