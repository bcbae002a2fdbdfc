// Avro: any bytes end in data or in one Data error; what was read is written, and read again as the same
// bytes; resolved to its own schema it stays the same.
//
// The first byte says what the rest is: 0 a container file, else a schema, a zero byte, and data without a
// container, since few random changes get past sync markers and lengths.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "format/avro/container.h"
#include "format/avro/decoder.h"
#include "format/avro/encoder.h"
#include "format/avro/resolution.h"

namespace caudal::avro {
namespace {

// Small, so that the fuzzer is quick and the limits are reached.
constexpr Limits kLimits = {.depth = 16, .values = 4096, .block_bytes = 1 << 16};

void CheckError(const Status& status) {
  if (status.domain() != Domain::kData || status.message().empty()) std::abort();
}

std::string Written(const Schema& schema, const Value& value) {
  std::string bytes;
  if (!Encode(schema, value, &bytes).ok()) std::abort();
  return bytes;
}

void CheckSchema(const Schema& schema) {
  const auto again = Schema::Parse(schema.ToJson());
  if (!again.ok() || again->ToJson() != schema.ToJson()) std::abort();
}

void CheckValue(const Schema& schema, const Value& value) {
  const std::string bytes = Written(schema, value);
  Decoder decoder(&schema, bytes, kLimits);
  const auto again = decoder.Next();
  if (!again.ok() || !decoder.at_end() || Written(schema, *again) != bytes) std::abort();
  const auto resolved = Resolution(&schema, &schema).Resolve(value);
  if (!resolved.ok() || Written(schema, *resolved) != bytes) std::abort();
}

void CheckDefaults(const Schema& schema) {
  for (const Field& field : schema.node(schema.root()).fields) {
    if (!field.default_json) continue;
    const auto value = DefaultValue(schema, field.type, *field.default_json);
    if (!value.ok()) CheckError(value.status());
  }
}

void RunContainer(std::string_view file) {
  const auto reader = ContainerReader::Open(file, "fuzz", kLimits);
  if (!reader.ok()) return CheckError(reader.status());
  CheckSchema((*reader)->schema());
  for (int i = 0; i < 100; ++i) {
    const auto next = (*reader)->Next();
    if (!next.ok()) return CheckError(next.status());
    if (!next->has_value()) return;
    CheckValue((*reader)->schema(), **next);
  }
}

void RunDatum(std::string_view input) {
  const size_t end = input.find('\0');
  const auto schema = Schema::Parse(input.substr(0, end));
  if (!schema.ok()) return CheckError(schema.status());
  CheckSchema(*schema);
  CheckDefaults(*schema);
  Decoder decoder(&*schema, end == std::string_view::npos ? std::string_view() : input.substr(end + 1),
                  kLimits);
  const auto value = decoder.Next();
  if (!value.ok()) return CheckError(value.status());
  CheckValue(*schema, *value);
}

}  // namespace
}  // namespace caudal::avro

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  data[0] == 0 ? caudal::avro::RunContainer(rest) : caudal::avro::RunDatum(rest);
  return 0;
}
