#include "format/json_scalar.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "data/text/number_text.h"
#include "data/text/time_text.h"

namespace caudal {
namespace {

using Kind = JsonScalar::Kind;

bool IsNumber(Kind kind) { return kind == Kind::kInteger || kind == Kind::kNumber; }

// Java's String.trim.
std::string_view Trim(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

bool ParseDigits(std::string_view text, int64_t* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

// Sign, digits and point of a JSON number with at most 18 digits as an integer and its fraction digits.
bool ReadShortDecimal(std::string_view text, int64_t* unscaled, int* fraction) {
  constexpr size_t kSurelyFits = 18;
  const bool negative = text[0] == '-';
  if (text.size() > kSurelyFits + (negative ? 1 : 0)) return false;
  int64_t value = 0;
  const char* point = nullptr;
  const char* end = text.data() + text.size();
  for (const char* at = text.data() + (negative ? 1 : 0); at != end; ++at) {
    if (*at == '.') {
      point = at;
      continue;
    }
    if (*at > '9') return false;  // an exponent
    value = value * 10 + (*at - '0');
  }
  *fraction = point == nullptr ? 0 : static_cast<int>(end - point) - 1;
  *unscaled = negative ? -value : value;
  return true;
}

constexpr int64_t kPowers[] = {1,
                               10,
                               100,
                               1'000,
                               10'000,
                               100'000,
                               1'000'000,
                               10'000'000,
                               100'000'000,
                               1'000'000'000,
                               10'000'000'000,
                               100'000'000'000,
                               1'000'000'000'000,
                               10'000'000'000'000,
                               100'000'000'000'000,
                               1'000'000'000'000'000,
                               10'000'000'000'000'000,
                               100'000'000'000'000'000,
                               1'000'000'000'000'000'000};

// A number of any length to `scale` digits behind the point.
struct ScaledNumber {
  bool negative = false;
  bool exact = true;  // only zeros were cut
  int next = 0;       // the first digit that was cut
  uint128_t value = 0;
};

// The exponent of a number, as far as it matters: beyond a million million any would do.
int64_t ReadExponent(std::string_view text) {
  constexpr int64_t kFar = 1'000'000'000'000;
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  int64_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error == std::errc::result_out_of_range) return text.front() == '-' ? -kFar : kFar;
  return std::clamp(exponent, -kFar, kFar);
}

// Never by way of a double, whose 53 bits are fewer than the digits of a BIGINT. False when more than 38
// digits stand before that place. REQUIRES: a number as JSON or IsDecimalText has it.
bool ScaleNumber(std::string_view text, int scale, ScaledNumber* out) {
  out->negative = text[0] == '-';
  if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
  const std::string_view digits = text.substr(0, text.find_first_of("eE"));
  const int64_t exponent = digits.size() < text.size() ? ReadExponent(text.substr(digits.size() + 1)) : 0;
  const int64_t kept = static_cast<int64_t>(std::min(digits.find('.'), digits.size())) + exponent + scale;
  int significant = 0;
  int64_t at = 0;
  for (const char c : digits) {
    if (c == '.') continue;
    const int digit = c - '0';
    if (at >= kept) {
      if (at == kept) out->next = digit;
      out->exact = out->exact && digit == 0;
    } else if (digit != 0 || significant > 0) {
      if (++significant > kMaxDecimalPrecision) return false;
      out->value = out->value * 10 + static_cast<unsigned>(digit);
    }
    ++at;
  }
  if (out->value == 0 || at >= kept) return true;
  if (significant + (kept - at) > kMaxDecimalPrecision) return false;
  out->value *= static_cast<uint128_t>(PowerOfTen(static_cast<int>(kept - at)));
  return true;
}

bool IsDecimalText(std::string_view text) {
  // What Java's BigDecimal takes and JSON does not: a leading '+', zeros in front, a bare point at either
  // end.
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  size_t digits = 0, i = 0;
  bool point = false;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !point) {
      point = true;
    } else if (text[i] >= '0' && text[i] <= '9') {
      ++digits;
    } else {
      break;
    }
  }
  if (digits == 0) return false;
  if (i == text.size()) return true;
  if (text[i] != 'e' && text[i] != 'E') return false;
  if (++i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
  if (i == text.size()) return false;
  for (; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
  }
  return true;
}

}  // namespace

IntegerRange RangeOf(TypeId id) {
  switch (id) {
    case TypeId::kTinyInt:
      return {-128, 127};
    case TypeId::kSmallInt:
      return {-32768, 32767};
    case TypeId::kInt:
      return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    default:
      return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
}

bool JsonToInteger(const JsonScalar& scalar, int64_t min, int64_t max, int64_t* out) {
  int64_t value = 0;
  if (scalar.kind == Kind::kInteger) {
    if (!ParseDigits(scalar.text, &value)) return false;
  } else if (scalar.kind == Kind::kNumber) {
    // 1.0 and 1e3 are integers, 1.9 is none.
    ScaledNumber number;
    if (!ScaleNumber(scalar.text, 0, &number) || !number.exact) return false;
    const uint128_t limit = static_cast<uint128_t>(std::numeric_limits<int64_t>::max());
    if (number.value > limit + (number.negative ? 1 : 0)) return false;
    const int128_t magnitude = static_cast<int128_t>(number.value);
    value = static_cast<int64_t>(number.negative ? -magnitude : magnitude);
  } else if (scalar.kind == Kind::kString) {
    if (!ParseWholeInteger(Trim(scalar.text), &value)) return false;
  } else {
    return false;
  }
  if (value < min || value > max) return false;
  *out = value;
  return true;
}

bool JsonToDouble(const JsonScalar& scalar, double* out) {
  if (!IsNumber(scalar.kind)) return scalar.kind == Kind::kString && ParseDouble(Trim(scalar.text), out);
  const auto [end, error] =
      std::from_chars(scalar.text.data(), scalar.text.data() + scalar.text.size(), *out);
  // Java gives infinity or zero for what a double cannot hold.
  return error == std::errc() || ParseDouble(scalar.text, out);
}

bool JsonToFloat(const JsonScalar& scalar, float* out) {
  if (!IsNumber(scalar.kind) && scalar.kind != Kind::kString) return false;
  return ParseFloat(Trim(scalar.text), out);
}

bool JsonToBoolean(const JsonScalar& scalar) {
  if (scalar.kind == Kind::kTrue) return true;
  // Java's parseBoolean: everything but "true" is false.
  const std::string_view text = Trim(scalar.text);
  constexpr std::string_view kTrue = "true";
  if (text.size() != kTrue.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] | 0x20) != kTrue[i]) return false;
  }
  return true;
}

bool JsonToDecimal64(const JsonScalar& scalar, int precision, int scale, int64_t* out, bool* fits) {
  int64_t unscaled = 0;
  int fraction = 0;
  *fits = true;
  if (IsNumber(scalar.kind) && ReadShortDecimal(scalar.text, &unscaled, &fraction)) {
    if (fraction > scale) {
      const int64_t divisor = kPowers[fraction - scale];
      const int64_t half = unscaled < 0 ? -(divisor / 2) : divisor / 2;
      unscaled = (unscaled + half) / divisor;
    } else if (__builtin_mul_overflow(unscaled, kPowers[scale - fraction], &unscaled)) {
      *fits = false;
      return true;
    }
    *fits = unscaled < kPowers[precision] && unscaled > -kPowers[precision];
    *out = unscaled;
    return true;
  }
  int128_t wide = 0;
  if (!JsonToDecimal128(scalar, precision, scale, &wide, fits)) return false;
  *out = static_cast<int64_t>(wide);
  return true;
}

bool JsonToDecimal128(const JsonScalar& scalar, int precision, int scale, int128_t* out, bool* fits) {
  const std::string_view text = Trim(scalar.text);
  if (!IsNumber(scalar.kind) && (scalar.kind != Kind::kString || !IsDecimalText(text))) return false;
  ScaledNumber number;
  *fits = ScaleNumber(text, scale, &number);
  const int128_t magnitude = static_cast<int128_t>(number.value) + (number.next >= 5 ? 1 : 0);
  *fits = *fits && magnitude < PowerOfTen(precision);
  if (*fits) *out = number.negative ? -magnitude : magnitude;
  return true;
}

bool JsonToDate(const JsonScalar& scalar, int32_t* days) {
  const std::string_view text = scalar.text;
  return scalar.kind == Kind::kString && text.size() == 10 && text[4] == '-' && text[7] == '-' &&
         ParseDate(text, days);
}

bool JsonToTime(const JsonScalar& scalar, int precision, int32_t* millis) {
  const std::string_view text = scalar.text;
  return scalar.kind == Kind::kString && text.size() >= 8 && text[2] == ':' && text[5] == ':' &&
         ParseTime(text, precision, millis);
}

bool JsonToTimestamp(const JsonScalar& scalar, const Type& type, TimestampForm form, int64_t* ticks) {
  if (scalar.kind != Kind::kString) return false;
  return type.id() == TypeId::kTimestamp ? ParseTimestampIn(form, scalar.text, type.precision(), ticks)
                                         : ParseInstantIn(form, scalar.text, type.precision(), ticks);
}

bool ReadPlainNumber(std::string_view token, int64_t* unscaled, int* fraction) {
  const bool negative = token.front() == '-';
  const char* at = token.data() + (negative ? 1 : 0);
  const char* end = token.data() + token.size();
  constexpr ptrdiff_t kSurelyFits = 18;
  if (end - at > kSurelyFits || at == end) return false;
  if (*at == '0' && at + 1 != end && at[1] != '.') return false;
  int64_t value = 0;
  const char* point = nullptr;
  for (const char* begin = at; at != end; ++at) {
    const unsigned digit = static_cast<unsigned char>(*at - '0');
    if (digit < 10) {
      value = value * 10 + digit;
    } else if (*at == '.' && point == nullptr && at != begin) {
      point = at;
    } else {
      return false;
    }
  }
  *fraction = point == nullptr ? 0 : static_cast<int>(end - point) - 1;
  *unscaled = negative ? -value : value;
  return point == nullptr || *fraction > 0;
}

bool JsonToPlainDecimal(std::string_view token, int precision, int scale, int64_t* out) {
  int64_t value = 0;
  int fraction = 0;
  if (!ReadPlainNumber(token, &value, &fraction) || fraction > scale) return false;
  const int64_t limit = kPowers[precision - scale + fraction];
  if (value >= limit || value <= -limit) return false;
  *out = value * kPowers[scale - fraction];
  return true;
}

bool JsonToPlainDouble(std::string_view token, double* out) {
  // Both are exact as doubles, so that one division rounds once, as it should.
  constexpr int64_t kExact = int64_t{1} << 53;
  int64_t value = 0;
  int fraction = 0;
  if (!ReadPlainNumber(token, &value, &fraction) || value >= kExact || value <= -kExact || value == 0) {
    return false;
  }
  *out = static_cast<double>(value) / static_cast<double>(kPowers[fraction]);
  return true;
}

JsonTimestampCache::JsonTimestampCache(const Type& type, TimestampForm form)
    : separator_(form == TimestampForm::kSql ? ' ' : 'T'),
      zulu_(type.id() == TypeId::kTimestampLtz),
      precision_(type.precision()),
      per_second_(type.ticks_per_second()) {}

bool JsonTimestampCache::Parse(std::string_view text, int64_t* ticks) {
  constexpr size_t kDate = 10, kSeconds = 19, kNanos = 29;
  if (zulu_) {
    if (text.empty() || text.back() != 'Z') return false;
    text.remove_suffix(1);
  }
  if (text.size() < kSeconds || text.size() > kNanos || text[kDate] != separator_) return false;
  if (std::memcmp(text.data(), date_, kDate) != 0) {
    int32_t days = 0;
    if (text[4] != '-' || text[7] != '-' || !ParseDate(text.substr(0, kDate), &days)) return false;
    // ParseDate is more lenient than the layout; only what it writes itself is this date's one spelling.
    char written[kDateTextSize];
    if (FormatDate(days, written) != kDate || std::memcmp(written, text.data(), kDate) != 0) return false;
    std::memcpy(date_, text.data(), kDate);
    date_seconds_ = days * kSecondsPerDay;
  }
  const auto two = [&](size_t at) {
    const unsigned tens = static_cast<unsigned char>(text[at] - '0');
    const unsigned ones = static_cast<unsigned char>(text[at + 1] - '0');
    return tens < 10 && ones < 10 ? tens * 10 + ones : 100;
  };
  const unsigned hour = two(11), minute = two(14), second = two(17);
  if (hour > 23 || minute > 59 || second > 59 || text[13] != ':' || text[16] != ':') return false;
  int64_t fraction = 0;
  if (text.size() > kSeconds) {
    const size_t digits = text.size() - kSeconds - 1;
    if (text[kSeconds] != '.' || digits == 0) return false;
    for (size_t i = kSeconds + 1; i < text.size(); ++i) {
      const unsigned digit = static_cast<unsigned char>(text[i] - '0');
      if (digit > 9) return false;
      fraction = fraction * 10 + digit;
    }
    const int kept = std::min(static_cast<int>(digits), precision_);
    fraction = fraction / kPowers[static_cast<int>(digits) - kept] * (per_second_ / kPowers[kept]);
  }
  // Nanoseconds end in the year 2262.
  const int64_t seconds = date_seconds_ + hour * 3600 + minute * 60 + second;
  return !__builtin_mul_overflow(seconds, per_second_, ticks) &&
         !__builtin_add_overflow(*ticks, fraction, ticks);
}

bool JsonToBytes(const JsonScalar& scalar, std::string* out) {
  if (scalar.kind != Kind::kString) return false;
  std::string_view text = scalar.text;
  if (text.size() % 4 != 0) return false;
  while (!text.empty() && text.back() == '=' && text.size() + 2 > scalar.text.size()) text.remove_suffix(1);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    uint32_t digit = 0;
    if (c >= 'A' && c <= 'Z') {
      digit = static_cast<uint32_t>(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      digit = static_cast<uint32_t>(c - 'a' + 26);
    } else if (c >= '0' && c <= '9') {
      digit = static_cast<uint32_t>(c - '0' + 52);
    } else if (c == '+' || c == '/') {
      digit = c == '+' ? 62 : 63;
    } else {
      return false;
    }
    bits = bits << 6 | digit;
    if ((count += 6) >= 8) out->push_back(static_cast<char>(bits >> (count -= 8)));
  }
  return true;
}

}  // namespace caudal
