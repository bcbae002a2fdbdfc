#include "iceberg/transform.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "data/text/time_text.h"
#include "iceberg/single_value.h"

namespace caudal::iceberg {
namespace {

using Kind = Transform::Kind;

constexpr int64_t kMicrosPerHour = 3'600'000'000;
constexpr int64_t kMicrosPerDay = 24 * kMicrosPerHour;

constexpr std::pair<Kind, std::string_view> kPlainNames[] = {
    {Kind::kIdentity, "identity"}, {Kind::kYear, "year"}, {Kind::kMonth, "month"},
    {Kind::kDay, "day"},           {Kind::kHour, "hour"}, {Kind::kVoid, "void"},
};

bool IsTimestamp(TypeId id) {
  return id == TypeId::kTimestamp || id == TypeId::kTimestampTz || id == TypeId::kTimestampNs ||
         id == TypeId::kTimestampTzNs;
}

bool CanBucket(TypeId id) {
  return id == TypeId::kInt || id == TypeId::kLong || id == TypeId::kDecimal || id == TypeId::kDate ||
         id == TypeId::kTime || IsTimestamp(id) || id == TypeId::kString || id == TypeId::kUuid ||
         id == TypeId::kFixed || id == TypeId::kBinary;
}

bool CanTruncate(TypeId id) {
  return id == TypeId::kInt || id == TypeId::kLong || id == TypeId::kDecimal || id == TypeId::kString ||
         id == TypeId::kBinary;
}

bool CanKeep(TypeId id) {
  return id < TypeId::kStruct && id != TypeId::kVariant && id != TypeId::kGeometry &&
         id != TypeId::kGeography;
}

bool HasMeaning(Kind kind, TypeId source) {
  switch (kind) {
    case Kind::kIdentity:
      return CanKeep(source);
    case Kind::kBucket:
      return CanBucket(source);
    case Kind::kTruncate:
      return CanTruncate(source);
    case Kind::kHour:
      return IsTimestamp(source);
    case Kind::kYear:
    case Kind::kMonth:
    case Kind::kDay:
      return source == TypeId::kDate || IsTimestamp(source);
    case Kind::kVoid:
      return true;
    default:
      return false;
  }
}

// The instant in µs, times before 1970 rounded down.
int64_t Micros(const Type& type, int64_t ticks) {
  const bool nanos = type.id == TypeId::kTimestampNs || type.id == TypeId::kTimestampTzNs;
  return nanos ? FloorDivide(ticks, 1000) : ticks;
}

int64_t TimeUnits(Kind kind, const Type& type, int64_t ticks) {
  if (kind == Kind::kHour) return FloorDivide(Micros(type, ticks), kMicrosPerHour);
  const int64_t days = type.id == TypeId::kDate ? ticks : FloorDivide(Micros(type, ticks), kMicrosPerDay);
  if (kind == Kind::kDay) return days;
  const CivilDate date = CivilFromDays(days);
  return kind == Kind::kYear ? date.year - 1970 : (date.year - 1970) * 12 + date.month - 1;
}

// The first `width` code points. A byte that begins none (10xxxxxx) belongs to the one before.
std::string FirstCodePoints(const std::string& text, int32_t width) {
  size_t at = 0;
  for (int32_t left = width; at < text.size(); ++at) {
    const bool begins = (static_cast<uint8_t>(text[at]) & 0xc0) != 0x80;
    if (begins && left-- == 0) break;
  }
  return text.substr(0, at);
}

template <typename Number>
Number RoundedDown(Number number, int32_t width) {
  const Number rest = number % width;
  return number - (rest < 0 ? rest + width : rest);
}

Value Truncated(const Type& type, const Value& value, int32_t width) {
  if (const int64_t* number = std::get_if<int64_t>(&value.data)) {
    // Below the smallest multiple a long wraps around, as in Java.
    const auto wide = RoundedDown<int128_t>(*number, width);
    return Value(type.id == TypeId::kInt ? int64_t{static_cast<int32_t>(wide)} : static_cast<int64_t>(wide));
  }
  if (const int128_t* number = std::get_if<int128_t>(&value.data)) return Value(RoundedDown(*number, width));
  const std::string& text = std::get<std::string>(value.data);
  return Value(type.id == TypeId::kString ? FirstCodePoints(text, width)
                                          : text.substr(0, static_cast<size_t>(width)));
}

int32_t HashLong(int64_t number) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  return Murmur3({bytes, sizeof(bytes)});
}

}  // namespace

Transform Transform::Parse(std::string_view text) {
  Transform transform{.text = std::string(text)};
  for (const auto& [kind, name] : kPlainNames) {
    if (name != text) continue;
    transform.kind = kind;
    return transform;
  }
  transform.kind = Kind::kUnknown;
  for (const auto& [kind, prefix] :
       {std::pair{Kind::kBucket, std::string_view("bucket[")}, {Kind::kTruncate, "truncate["}}) {
    if (text.substr(0, prefix.size()) != prefix || text.back() != ']') continue;
    const char* end = text.data() + text.size() - 1;
    int32_t number = 0;
    const auto [stop, error] = std::from_chars(text.data() + prefix.size(), end, number);
    if (error != std::errc() || stop != end || number <= 0) continue;
    transform.kind = kind;
    transform.parameter = number;
  }
  return transform;
}

Result<Type> Transform::ResultType(const Type& source) const {
  if (!HasMeaning(kind, source.id)) {
    return Status::User(
        fmt::format("the transform '{}' has no meaning for a column of type {}", text, TypeText(source)));
  }
  switch (kind) {
    case Kind::kBucket:
    case Kind::kYear:
    case Kind::kMonth:
    case Kind::kHour:
      return Type(TypeId::kInt);
    case Kind::kDay:
      return Type(TypeId::kDate);
    default:
      return source;
  }
}

int32_t BucketHash(const Type& type, const Value& value) {
  if (const int64_t* number = std::get_if<int64_t>(&value.data)) return HashLong(Micros(type, *number));
  // A decimal is hashed as the bytes of its bound; strings, uuids and bytes as they are.
  return Murmur3(EncodeSingleValue(type, value));
}

Value Transform::Apply(const Type& source, const Value& value) const {
  if (value.is_null() || kind == Kind::kVoid) return Value();
  switch (kind) {
    case Kind::kBucket:
      return Value(int64_t{(BucketHash(source, value) & INT32_MAX) % parameter});
    case Kind::kTruncate:
      return Truncated(source, value, parameter);
    case Kind::kYear:
    case Kind::kMonth:
    case Kind::kDay:
    case Kind::kHour:
      return Value(TimeUnits(kind, source, std::get<int64_t>(value.data)));
    default:
      return value;
  }
}

}  // namespace caudal::iceberg
