#include "iceberg/bounds.h"

#include <cmath>
#include <type_traits>

#include "iceberg/single_value.h"

namespace caudal::iceberg {
namespace {

constexpr uint32_t kHighestCodePoint = 0x10ffff;
constexpr uint32_t kFirstSurrogate = 0xd800;
constexpr uint32_t kLastSurrogate = 0xdfff;

bool IsText(const Type& type) { return type.id == TypeId::kString; }
bool IsBytes(const Type& type) { return type.id == TypeId::kBinary || type.id == TypeId::kFixed; }

bool BeginsCodePoint(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) != 0x80; }

// The first `width` code points of UTF-8.
std::string CutText(const std::string& text, int width) {
  size_t at = 0;
  for (int left = width; at < text.size(); ++at) {
    if (BeginsCodePoint(text[at]) && left-- == 0) break;
  }
  return text.substr(0, at);
}

uint32_t CodePointOf(std::string_view bytes) {
  const auto lead = static_cast<uint8_t>(bytes[0]);
  if (bytes.size() == 1) return lead;
  uint32_t code = lead & (0x7f >> bytes.size());
  for (size_t i = 1; i < bytes.size(); ++i) code = code << 6 | (static_cast<uint8_t>(bytes[i]) & 0x3f);
  return code;
}

void AppendCodePoint(uint32_t code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  out->push_back(static_cast<char>((0xff << (7 - more)) | code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) out->push_back(static_cast<char>(0x80 | (code >> (6 * i) & 0x3f)));
}

// The last code point raised by one, surrogates left out; those that are the highest already are dropped.
std::optional<std::string> RaiseText(std::string text) {
  while (!text.empty()) {
    size_t start = text.size() - 1;
    while (start > 0 && !BeginsCodePoint(text[start])) --start;
    uint32_t code = CodePointOf(std::string_view(text).substr(start));
    text.resize(start);
    if (code >= kHighestCodePoint) continue;
    code = code + 1 == kFirstSurrogate ? kLastSurrogate + 1 : code + 1;
    AppendCodePoint(code, &text);
    return text;
  }
  return std::nullopt;
}

std::optional<std::string> RaiseBytes(std::string bytes) {
  while (!bytes.empty() && bytes.back() == '\xff') bytes.pop_back();
  if (bytes.empty()) return std::nullopt;
  bytes.back() = static_cast<char>(bytes.back() + 1);
  return bytes;
}

// A zero with this sign; any other value as it is.
Value ZeroAs(const Value& value, double zero) {
  const double* number = std::get_if<double>(&value.data);
  return number != nullptr && *number == 0 ? Value(zero) : value;
}

}  // namespace

bool SortsBefore(const Value& a, const Value& b) {
  return std::visit(
      [&b](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, double>) {
          const double y = std::get<double>(b.data);
          return x == y ? std::signbit(x) && !std::signbit(y) : x < y;
        } else if constexpr (std::is_same_v<T, std::monostate> || std::is_same_v<T, ValueList>) {
          return false;  // has no order
        } else {
          return x < std::get<T>(b.data);
        }
      },
      a.data);
}

std::string LowerBound(const Type& type, const Value& value, int width) {
  if (IsText(type)) return CutText(std::get<std::string>(value.data), width);
  if (IsBytes(type)) return std::get<std::string>(value.data).substr(0, static_cast<size_t>(width));
  return EncodeSingleValue(type, value);
}

std::optional<std::string> UpperBound(const Type& type, const Value& value, int width) {
  if (!IsText(type) && !IsBytes(type)) return EncodeSingleValue(type, value);
  const std::string& whole = std::get<std::string>(value.data);
  std::string cut = LowerBound(type, value, width);
  if (cut.size() == whole.size()) return cut;
  return IsText(type) ? RaiseText(std::move(cut)) : RaiseBytes(std::move(cut));
}

void BoundsCollector::Add(const Value& value) {
  const double* number = std::get_if<double>(&value.data);
  if (value.is_null()) {
    ++nulls_;
  } else if (number != nullptr && std::isnan(*number)) {
    ++nans_;
  } else {
    if (lowest_.is_null() || SortsBefore(value, lowest_)) lowest_ = value;
    if (highest_.is_null() || SortsBefore(highest_, value)) highest_ = value;
  }
}

std::optional<Value> BoundsCollector::lowest() const {
  if (unknown_ || lowest_.is_null()) return std::nullopt;
  return ZeroAs(lowest_, -0.0);
}

std::optional<Value> BoundsCollector::highest() const {
  if (unknown_ || highest_.is_null()) return std::nullopt;
  return ZeroAs(highest_, 0.0);
}

}  // namespace caudal::iceberg
