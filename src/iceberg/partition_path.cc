#include "iceberg/partition_path.h"

#include <fmt/format.h>

#include "data/text/number_text.h"
#include "data/text/time_text.h"
#include "iceberg/transform.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kHoursPerDay = 24;
constexpr int64_t kMicrosPerSecond = 1'000'000;

std::string Encoded(std::string_view text) {
  std::string encoded;
  for (char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '*' || c == '_';
    if (plain) {
      encoded.push_back(c);
    } else if (c == ' ') {
      encoded.push_back('+');
    } else {
      encoded += fmt::format("%{:02X}", static_cast<uint8_t>(c));
    }
  }
  return encoded;
}

std::string DateText(int64_t days) {
  char text[kDateTextSize];
  return {text, FormatDate(days, text)};
}

std::string TimestampText(const Type& type, int64_t ticks) {
  const bool nanos = type.id == TypeId::kTimestampNs || type.id == TypeId::kTimestampTzNs;
  const bool zulu = type.id == TypeId::kTimestampTz || type.id == TypeId::kTimestampTzNs;
  char text[kTimestampTextSize];
  return {text, FormatTimestampIn(TimestampForm::kIso8601, ticks, nanos ? 9 : 6, zulu, text)};
}

std::string TimeText(int64_t micros) {
  const int64_t seconds = micros / kMicrosPerSecond;
  return fmt::format("{:02}:{:02}:{:02}.{:06}", seconds / 3600, seconds / 60 % 60, seconds % 60,
                     micros % kMicrosPerSecond);
}

// Months and hours since 1970 as people write them.
std::string UnitsText(Transform::Kind kind, const Type& type, int64_t units) {
  switch (kind) {
    case Transform::Kind::kYear:
      return std::to_string(1970 + units);
    case Transform::Kind::kMonth:
      return fmt::format("{:04}-{:02}", 1970 + FloorDivide(units, 12), FloorModulo(units, 12) + 1);
    case Transform::Kind::kHour:
      return fmt::format("{}-{:02}", DateText(FloorDivide(units, kHoursPerDay)),
                         FloorModulo(units, kHoursPerDay));
    default:
      break;
  }
  if (type.id == TypeId::kDate) return DateText(units);
  if (type.id == TypeId::kTime) return TimeText(units);
  const bool number = type.id == TypeId::kInt || type.id == TypeId::kLong;
  return number ? std::to_string(units) : TimestampText(type, units);
}

std::string BytesText(const Type& type, const std::string& bytes) {
  if (type.id == TypeId::kString) return bytes;
  std::string hex;
  for (char c : bytes) hex += fmt::format("{:02x}", static_cast<uint8_t>(c));
  if (type.id == TypeId::kUuid) {
    for (size_t dash : {20, 16, 12, 8}) hex.insert(dash, 1, '-');
  }
  return hex;
}

std::string ValueText(const PartitionField& field, const Type& type, const Value& value) {
  if (const bool* boolean = std::get_if<bool>(&value.data)) return *boolean ? "true" : "false";
  if (const int64_t* number = std::get_if<int64_t>(&value.data)) {
    return UnitsText(Transform::Parse(field.transform).kind, type, *number);
  }
  if (const int128_t* number = std::get_if<int128_t>(&value.data)) {
    char text[kDecimalTextSize];
    return {text, FormatDecimal(*number, type.scale, text)};
  }
  if (const double* number = std::get_if<double>(&value.data)) {
    char text[kDoubleTextSize];
    return {text, FormatDouble(*number, text)};
  }
  const std::string* bytes = std::get_if<std::string>(&value.data);
  return bytes == nullptr ? "null" : BytesText(type, *bytes);
}

}  // namespace

std::string PartitionPath(const PartitionSpec& spec, const std::vector<Type>& types,
                          const std::vector<Value>& partition) {
  std::string path;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    if (i > 0) path += '/';
    path += Encoded(spec.fields[i].name) + "=" + Encoded(ValueText(spec.fields[i], types[i], partition[i]));
  }
  return path;
}

}  // namespace caudal::iceberg
