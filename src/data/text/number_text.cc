#include "data/text/number_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace caudal {
namespace {

constexpr std::array<int128_t, kMaxDecimalPrecision + 1> MakePowers() {
  std::array<int128_t, kMaxDecimalPrecision + 1> powers{};
  powers[0] = 1;
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}
constexpr std::array<int128_t, kMaxDecimalPrecision + 1> kPowers = MakePowers();

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

std::string_view TrimSpaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Java's String.trim: everything up to U+0020.
std::string_view TrimControls(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

// What a decimal's text says: digits × 10^-scale. Digits beyond the 38th only round.
struct DecimalParts {
  bool negative = false;
  int digits = 0;       // digits written, leading zeros too
  int significant = 0;  // digits without leading zeros
  uint128_t value = 0;  // the first 38 significant digits
  int dropped = 0;      // digits after those
  int first_dropped = 0;
  int scale = 0;  // digits after the point, less the exponent
};

bool ReadExponent(std::string_view text, int* exponent) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || text.size() > 9) return false;
  int value = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return false;
    value = value * 10 + (c - '0');
  }
  *exponent = negative ? -value : value;
  return true;
}

bool ReadDecimal(std::string_view text, DecimalParts* parts) {
  size_t i = 0;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) parts->negative = text[i++] == '-';
  bool point = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      if (point) return false;
      point = true;
      continue;
    }
    if (!IsDigit(c)) break;
    ++parts->digits;
    if (point) ++parts->scale;
    if (parts->significant == 0 && c == '0') continue;
    if (parts->significant < kMaxDecimalPrecision) {
      parts->value = parts->value * 10 + static_cast<unsigned>(c - '0');
      ++parts->significant;
    } else {
      if (parts->dropped++ == 0) parts->first_dropped = c - '0';
    }
  }
  if (parts->digits == 0) return false;
  if (i == text.size()) return true;
  if (text[i] != 'e' && text[i] != 'E') return false;
  int exponent = 0;
  if (!ReadExponent(text.substr(i + 1), &exponent)) return false;
  parts->scale -= exponent;
  return true;
}

// Scales `parts` to `scale` fraction digits, half up. False when it needs more than `precision` digits.
bool ScaleParts(const DecimalParts& parts, int precision, int scale, int128_t* out) {
  uint128_t value = parts.value;
  const int shift = scale - (parts.scale - parts.dropped);  // times 10^shift
  if (value == 0) {
    *out = 0;
    return true;
  }
  if (parts.significant + shift > precision + 1) return false;
  if (shift >= 0) {
    // Digits were dropped only behind 38 others; scaling up past them cannot fit.
    if (parts.dropped > 0 && shift > 0) return false;
    value *= static_cast<uint128_t>(PowerOfTen(shift));
    if (parts.dropped > 0 && parts.first_dropped >= 5) ++value;
  } else if (-shift > kMaxDecimalPrecision) {
    value = 0;
  } else {
    const uint128_t divisor = static_cast<uint128_t>(PowerOfTen(-shift));
    const uint128_t rest = value % divisor;
    value /= divisor;
    if (rest >= divisor - rest) ++value;
  }
  if (value >= static_cast<uint128_t>(PowerOfTen(precision))) return false;
  *out = parts.negative ? -static_cast<int128_t>(value) : static_cast<int128_t>(value);
  return true;
}

std::string_view StripFloatSuffix(std::string_view text) {
  const char last = text.empty() ? '\0' : text.back();
  const bool suffix = last == 'd' || last == 'D' || last == 'f' || last == 'F';
  return suffix && text.size() > 1 ? text.substr(0, text.size() - 1) : text;
}

template <typename T>
bool ReadSlowFloat(std::string_view text, T* out) {
  const std::string copy(text);  // rare: overflow, underflow, hexadecimal
  char* end = nullptr;
  *out = sizeof(T) == 4 ? static_cast<T>(std::strtof(copy.c_str(), &end)) : std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size();
}

template <typename T>
bool ReadFloat(std::string_view text, T* out) {
  text = TrimControls(text);
  std::string_view body = text;
  bool negative = false;
  if (!body.empty() && (body[0] == '+' || body[0] == '-')) {
    negative = body[0] == '-';
    body.remove_prefix(1);
  }
  T value = 0;
  if (body == "NaN") {
    *out = std::numeric_limits<T>::quiet_NaN();
    return true;
  }
  if (body == "Infinity") {
    value = std::numeric_limits<T>::infinity();
  } else if (body.size() > 2 && body[0] == '0' && (body[1] == 'x' || body[1] == 'X')) {
    // Java asks for the binary exponent; the suffix test must not eat a hexadecimal digit.
    const size_t exponent = body.find_first_of("pP");
    if (exponent == std::string_view::npos || exponent + 1 == body.size()) return false;
    if (!ReadSlowFloat(StripFloatSuffix(body), &value)) return false;
  } else {
    if (body.empty() || (!IsDigit(body[0]) && body[0] != '.')) return false;
    body = StripFloatSuffix(body);
    const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
    if (end != body.data() + body.size()) return false;
    if (error == std::errc::result_out_of_range && !ReadSlowFloat(body, &value)) return false;
    if (error == std::errc::invalid_argument) return false;
  }
  *out = negative ? -value : value;
  return true;
}

// Java's notation from the shortest digits "d.ddde±xx".
template <typename T>
size_t WriteFloat(T value, char* out) {
  char* to = out;
  const bool negative = std::signbit(value) && !std::isnan(value);
  if (negative) *to++ = '-';
  value = std::fabs(value);
  if (!std::isfinite(value) || value == 0) {
    const std::string_view word = std::isnan(value) ? "NaN" : std::isinf(value) ? "Infinity" : "0.0";
    std::memcpy(to, word.data(), word.size());
    return word.size() + (negative ? 1 : 0);
  }
  const bool plain = value >= static_cast<T>(1e-3) && value < static_cast<T>(1e7);
  char text[64];
  const auto done = std::to_chars(text, text + sizeof(text), value,
                                  plain ? std::chars_format::fixed : std::chars_format::scientific);
  const char* end = done.ptr;
  if (value < (sizeof(T) == 4 ? T(1e-37) : T(1e-300)) && text[1] == 'e') {
    // Java gives two digits where there is room for them: 4.9E-324.
    end = std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific, 1).ptr;
  }
  const std::string_view digits(text, static_cast<size_t>(end - text));
  const size_t mark = plain ? std::string_view::npos : digits.find('e');
  const std::string_view mantissa = digits.substr(0, mark);
  std::memcpy(to, mantissa.data(), mantissa.size());
  to += mantissa.size();
  if (mantissa.find('.') == std::string_view::npos) {
    *to++ = '.';
    *to++ = '0';
  }
  if (!plain) {
    int exponent = 0;
    ReadExponent(digits.substr(mark + 1), &exponent);
    *to++ = 'E';
    to = std::to_chars(to, to + 8, exponent).ptr;
  }
  return static_cast<size_t>(to - out);
}

}  // namespace

int128_t PowerOfTen(int exponent) { return kPowers[static_cast<size_t>(exponent)]; }

bool ParseWholeInteger(std::string_view text, int64_t* out) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return false;
  uint64_t value = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return false;
    if (value > (std::numeric_limits<uint64_t>::max() - 9) / 10) return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  const uint64_t limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (negative ? 1 : 0);
  if (value > limit) return false;
  *out = static_cast<int64_t>(negative ? 0 - value : value);
  return true;
}

bool ParseInteger(std::string_view text, int64_t* out) {
  text = TrimSpaces(text);
  const size_t point = text.find('.');
  if (point == std::string_view::npos) return ParseWholeInteger(text, out);
  for (const char c : text.substr(point + 1)) {
    if (!IsDigit(c)) return false;
  }
  const std::string_view whole = text.substr(0, point);
  if (whole.empty() || whole == "-" || whole == "+") {  // ".5" and "." are 0, as in Flink
    *out = 0;
    return true;
  }
  return ParseWholeInteger(whole, out);
}

bool ParseInteger(std::string_view text, int64_t min, int64_t max, int64_t* out) {
  int64_t value = 0;
  if (!ParseInteger(text, &value) || value < min || value > max) return false;
  *out = value;
  return true;
}

bool ParseDecimal(std::string_view text, int precision, int scale, int128_t* out) {
  // Flink counts leading zeros as digits of a short text: '0' is not a DECIMAL(3, 3), '.0' is.
  const bool counts_zeros = precision <= 18 && text.size() <= 18;
  DecimalParts parts;
  if (!ReadDecimal(TrimControls(text), &parts)) return false;
  if (counts_zeros && parts.digits + scale - parts.scale > precision) return false;
  return ScaleParts(parts, precision, scale, out);
}

bool ParseDecimal64(std::string_view text, int precision, int scale, int64_t* out) {
  // The plain case: at most 18 digits, a point with no more digits behind it than the scale.
  size_t i = !text.empty() && text[0] == '-' ? 1 : 0;
  if (text.size() - i <= 18 && i < text.size()) {
    const bool negative = i == 1;
    int64_t value = 0;
    int digits = 0;
    int fraction = -1;
    for (; i < text.size(); ++i) {
      const char c = text[i];
      if (IsDigit(c)) {
        value = value * 10 + (c - '0');
        ++digits;
        if (fraction >= 0) ++fraction;
      } else if (c == '.' && fraction < 0) {
        fraction = 0;
      } else {
        break;
      }
    }
    const int missing = scale - (fraction < 0 ? 0 : fraction);
    if (i == text.size() && digits > 0 && missing >= 0 && digits + missing <= precision) {
      value *= static_cast<int64_t>(PowerOfTen(missing));
      *out = negative ? -value : value;
      return true;
    }
  }
  int128_t wide = 0;
  if (!ParseDecimal(text, precision, scale, &wide)) return false;
  *out = static_cast<int64_t>(wide);
  return true;
}

bool ParseDouble(std::string_view text, double* out) { return ReadFloat(text, out); }
bool ParseFloat(std::string_view text, float* out) { return ReadFloat(text, out); }

bool ParseBoolean(std::string_view text, bool* out) {
  char lower[5];
  if (text.empty() || text.size() > sizeof(lower)) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    lower[i] = static_cast<char>(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
  }
  const std::string_view word(lower, text.size());
  const bool yes = word == "true" || word == "t" || word == "yes" || word == "y" || word == "1";
  const bool no = word == "false" || word == "f" || word == "no" || word == "n" || word == "0";
  if (!yes && !no) return false;
  *out = yes;
  return true;
}

size_t FormatInteger(int64_t value, char* out) {
  return static_cast<size_t>(std::to_chars(out, out + kIntegerTextSize, value).ptr - out);
}

size_t FormatDecimal(int128_t unscaled, int scale, char* out) {
  char digits[48];
  char* const end = digits + sizeof(digits);
  char* first = end;
  uint128_t value = unscaled < 0 ? 0 - static_cast<uint128_t>(unscaled) : static_cast<uint128_t>(unscaled);
  while (value > std::numeric_limits<uint64_t>::max()) {
    *--first = static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  }
  for (uint64_t rest = static_cast<uint64_t>(value); rest != 0; rest /= 10) {
    *--first = static_cast<char>('0' + rest % 10);
  }
  while (end - first <= scale) *--first = '0';
  char* to = out;
  if (unscaled < 0) *to++ = '-';
  const size_t whole = static_cast<size_t>(end - first - scale);
  std::memcpy(to, first, whole);
  to += whole;
  if (scale > 0) {
    *to++ = '.';
    std::memcpy(to, first + whole, static_cast<size_t>(scale));
    to += scale;
  }
  return static_cast<size_t>(to - out);
}

size_t FormatDouble(double value, char* out) { return WriteFloat(value, out); }
size_t FormatFloat(float value, char* out) { return WriteFloat(value, out); }

bool RescaleDecimal(int128_t unscaled, int from, int to, int precision, int128_t* out) {
  const int shift = to - from;
  if (shift < 0) {
    if (-shift > kMaxDecimalPrecision) {
      unscaled = 0;
    } else {
      const int128_t divisor = PowerOfTen(-shift);
      const int128_t rest = unscaled % divisor;
      unscaled /= divisor;
      if ((rest < 0 ? -rest : rest) >= divisor - (rest < 0 ? -rest : rest)) unscaled += rest < 0 ? -1 : 1;
    }
  } else if (shift > 0 && unscaled != 0) {
    if (shift > kMaxDecimalPrecision) return false;
    if (__builtin_mul_overflow(unscaled, PowerOfTen(shift), &unscaled)) return false;
  }
  const int128_t limit = PowerOfTen(precision);
  if (unscaled >= limit || unscaled <= -limit) return false;
  *out = unscaled;
  return true;
}

double DecimalToDouble(int128_t unscaled, int scale) {
  // Exact operands give a correctly rounded quotient; else by way of the text.
  constexpr int128_t kExact = int128_t{1} << 53;
  if (unscaled <= kExact && unscaled >= -kExact && scale <= 22) {
    return static_cast<double>(unscaled) / static_cast<double>(PowerOfTen(scale));
  }
  char text[kDecimalTextSize];
  const size_t size = FormatDecimal(unscaled, scale, text);
  double value = 0;
  std::from_chars(text, text + size, value);
  return value;
}

bool DoubleToDecimal(double value, int precision, int scale, int128_t* out) {
  if (!std::isfinite(value)) return false;
  char text[kDoubleTextSize];
  const std::string_view shortest(text, FormatDouble(value, text));
  DecimalParts parts;
  return ReadDecimal(shortest, &parts) && ScaleParts(parts, precision, scale, out);
}

}  // namespace caudal
