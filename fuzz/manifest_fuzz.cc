// The manifest's decoder: any bytes end in a Manifest or in one Data error; a manifest that was read is
// written and read again as the same.
//
// The first byte says how the rest is taken: 0 as a whole file, else as the body of that format version under
// a right header, since no random change gets past the checksum.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/crc32c.h"
#include "state/manifest.h"

namespace {

template <typename T>
void AppendInteger(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string WithHeader(uint32_t version, std::string_view body) {
  std::string file = "CDLMANIF";
  AppendInteger(file, version);
  AppendInteger(file, caudal::Crc32c(body));
  AppendInteger(file, static_cast<uint64_t>(body.size()));
  return file.append(body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto read = caudal::DecodeManifest(data[0] == 0 ? std::string(rest) : WithHeader(data[0], rest));
  if (!read.ok()) {
    const caudal::Status status = read.status();
    if (status.domain() != caudal::Domain::kData || status.message().empty()) std::abort();
    return 0;
  }
  const auto again = caudal::DecodeManifest(caudal::EncodeManifest(read.value()));
  if (!again.ok() || !(again.value() == read.value())) std::abort();
  return 0;
}
