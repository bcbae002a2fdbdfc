// The SQL parser: any bytes end in syntax trees or in one User error with a message, and every statement
// parsed alone parses as it did within the script.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sql/parse/parser.h"

namespace {

template <typename T>
void Check(const caudal::Result<T>& result) {
  if (result.ok()) return;
  const caudal::Status status = result.status();
  if (status.domain() != caudal::Domain::kUser || status.message().empty()) std::abort();
  if (status.ToString().empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const caudal::sql::SourceText source(std::string(reinterpret_cast<const char*>(data), size));
  const auto script = caudal::sql::ParseScript(source);
  Check(script);
  Check(caudal::sql::ParseExpression(source));
  Check(caudal::sql::ParseType(source));
  const auto statement = caudal::sql::ParseStatement(source);
  Check(statement);
  if (statement.ok() && (!script.ok() || script.value().size() != 1)) std::abort();
  return 0;
}
