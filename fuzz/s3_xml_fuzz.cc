// The answers of an object store: any bytes end in elements or in one error; text survives being written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fs/s3/s3_xml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto parsed = caudal::ParseXml(bytes);
  if (!parsed.ok() && parsed.status().message().empty()) std::abort();
  if (parsed.ok()) (void)parsed->Text("Key");
  const auto again = caudal::ParseXml("<a>" + caudal::XmlEscaped(bytes) + "</a>");
  if (!again.ok() || again->text != bytes) std::abort();
  return 0;
}
