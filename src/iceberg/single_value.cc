#include "iceberg/single_value.h"

#include <fmt/format.h>

#include <cstring>

#include "data/text/number_text.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kDayInMicros = int64_t{86'400} * 1'000'000;

template <typename T>
std::string LittleEndian(T number) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &number, sizeof(T));
  return bytes;
}

template <typename T>
T FromLittleEndian(std::string_view bytes) {
  T number;
  std::memcpy(&number, bytes.data(), sizeof(T));
  return number;
}

Result<Value> DecodeInteger(const Type& type, std::string_view bytes) {
  const bool narrow = type.id == TypeId::kInt || type.id == TypeId::kDate;
  if (bytes.size() == sizeof(int64_t) && !narrow) return Value(FromLittleEndian<int64_t>(bytes));
  if (bytes.size() != sizeof(int32_t) || type.id == TypeId::kTime) {
    return Status::Data(fmt::format("{} bytes are no {}", bytes.size(), TypeText(type)));
  }
  const int64_t number = FromLittleEndian<int32_t>(bytes);
  switch (type.id) {
    case TypeId::kTimestamp:  // from days: a date once
      return Value(number * kDayInMicros);
    case TypeId::kTimestampNs: {
      int64_t nanos = 0;
      if (__builtin_mul_overflow(number, kDayInMicros * 1000, &nanos)) {
        return Status::Data(fmt::format("day {} is beyond what timestamp_ns can hold", number));
      }
      return Value(nanos);
    }
    case TypeId::kTimestampTz:
    case TypeId::kTimestampTzNs:
      return Status::Data(fmt::format("4 bytes are no {}", TypeText(type)));
    default:
      return Value(number);
  }
}

Result<Value> DecodeFloating(const Type& type, std::string_view bytes) {
  if (bytes.size() == sizeof(float)) return Value(static_cast<double>(FromLittleEndian<float>(bytes)));
  if (bytes.size() == sizeof(double) && type.id == TypeId::kDouble)
    return Value(FromLittleEndian<double>(bytes));
  return Status::Data(fmt::format("{} bytes are no {}", bytes.size(), TypeText(type)));
}

}  // namespace

std::string EncodeDecimal(int128_t unscaled, size_t size) {
  std::string bytes;
  for (int shift = 120; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(unscaled >> shift));
  size_t first = 0;
  if (size > 0) {
    first = bytes.size() - size;
  } else {
    // A leading byte goes if the next one alone tells the sign.
    const char sign = unscaled < 0 ? '\xff' : '\0';
    while (first + 1 < bytes.size() && bytes[first] == sign && ((bytes[first + 1] ^ sign) & 0x80) == 0)
      ++first;
  }
  return bytes.substr(first);
}

int128_t DecodeDecimal(std::string_view bytes) {
  uint128_t number = (bytes[0] & 0x80) != 0 ? ~uint128_t{0} : 0;
  for (char byte : bytes) number = number << 8 | static_cast<uint8_t>(byte);
  return static_cast<int128_t>(number);
}

size_t DecimalBytes(int precision) {
  size_t bytes = 1;
  while (bytes < 16 && PowerOfTen(precision) - 1 > (int128_t{1} << (8 * bytes - 1)) - 1) ++bytes;
  return bytes;
}

std::string EncodeSingleValue(const Type& type, const Value& value) {
  switch (type.id) {
    case TypeId::kBoolean:
      return std::string(1, std::get<bool>(value.data) ? '\1' : '\0');
    case TypeId::kInt:
    case TypeId::kDate:
      return LittleEndian(static_cast<int32_t>(std::get<int64_t>(value.data)));
    case TypeId::kFloat:
      return LittleEndian(static_cast<float>(std::get<double>(value.data)));
    case TypeId::kDouble:
      return LittleEndian(std::get<double>(value.data));
    case TypeId::kDecimal:
      return EncodeDecimal(std::get<int128_t>(value.data));
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return LittleEndian(std::get<int64_t>(value.data));
    default:
      return std::get<std::string>(value.data);
  }
}

Result<Value> DecodeSingleValue(const Type& type, std::string_view bytes) {
  const auto wrong = [&] {
    return Status::Data(fmt::format("{} bytes are no {}", bytes.size(), TypeText(type)));
  };
  switch (type.id) {
    case TypeId::kBoolean:
      if (bytes.size() != 1) return wrong();
      return Value(bytes[0] != 0);
    case TypeId::kFloat:
    case TypeId::kDouble:
      return DecodeFloating(type, bytes);
    case TypeId::kDecimal:
      if (bytes.empty() || bytes.size() > sizeof(int128_t)) return wrong();
      return Value(DecodeDecimal(bytes));
    case TypeId::kUuid:
      if (bytes.size() != 16) return wrong();
      return Value(std::string(bytes));
    case TypeId::kFixed:
      if (static_cast<int64_t>(bytes.size()) != type.length) return wrong();
      return Value(std::string(bytes));
    case TypeId::kString:
    case TypeId::kBinary:
      return Value(std::string(bytes));
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return DecodeInteger(type, bytes);
    default:
      return Status::Data(fmt::format("a value of type {} has no bounds that are read", TypeText(type)));
  }
}

}  // namespace caudal::iceberg
