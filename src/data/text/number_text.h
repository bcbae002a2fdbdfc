// Numbers to text and back, in the forms that Flink's CAST reads and writes (Java's).
//
// Free functions for hot paths: no allocation, no Status. Parse… return false when the text is not such a
// number or does not fit, and leave `out` alone. Format… write to `out`, which has room for the stated number
// of bytes, and return how many they wrote; no terminating zero. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "data/int128.h"

namespace caudal {

inline constexpr size_t kIntegerTextSize = 20;  // -9223372036854775808
inline constexpr size_t kDecimalTextSize = 42;  // sign, 38 digits, a leading 0, the point
inline constexpr size_t kDoubleTextSize = 32;
inline constexpr int kMaxDecimalPrecision = 38;

// 10^exponent. REQUIRES: 0 <= exponent <= 38.
int128_t PowerOfTen(int exponent);

// As CAST(text AS BIGINT): spaces around are trimmed, a sign may lead, a fraction is cut ("-1.9" is -1).
bool ParseInteger(std::string_view text, int64_t* out);
// The same, for a type that holds min … max only.
bool ParseInteger(std::string_view text, int64_t min, int64_t max, int64_t* out);
// Sign and digits, nothing else: as Java's Long.parseLong.
bool ParseWholeInteger(std::string_view text, int64_t* out);

// As CAST(text AS DECIMAL(precision, scale)): blanks trimmed, an exponent allowed, rounded half up.
// `out`: the unscaled value.
bool ParseDecimal(std::string_view text, int precision, int scale, int128_t* out);
// The same for precision <= 18.
bool ParseDecimal64(std::string_view text, int precision, int scale, int64_t* out);

// As Java's parseDouble and parseFloat: "NaN", "Infinity", hexadecimal floats, a suffix d or f, infinity for
// what is too large. Also blanks around.
bool ParseDouble(std::string_view text, double* out);
bool ParseFloat(std::string_view text, float* out);
// As CAST(text AS BOOLEAN): true/t/yes/y/1 and false/f/no/n/0 in any case.
bool ParseBoolean(std::string_view text, bool* out);

size_t FormatInteger(int64_t value, char* out);  // kIntegerTextSize
size_t FormatDecimal(int128_t unscaled, int scale,
                     char* out);  // kDecimalTextSize: "-0.50", never an exponent
// Java's shortest form: "1.0", "1.0E10", "NaN", "-Infinity".
size_t FormatDouble(double value, char* out);  // kDoubleTextSize
size_t FormatFloat(float value, char* out);    // kDoubleTextSize

// `unscaled` with `from` fraction digits as one with `to`, rounded half up. False when the result has more
// than `precision` digits.
bool RescaleDecimal(int128_t unscaled, int from, int to, int precision, int128_t* out);
// The value of a decimal as the nearest double.
double DecimalToDouble(int128_t unscaled, int scale);
// A double as a decimal, as Java's BigDecimal of its shortest text, rounded half up. False when it does not
// fit or is no number.
bool DoubleToDecimal(double value, int precision, int scale, int128_t* out);

}  // namespace caudal
