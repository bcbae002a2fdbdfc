// What a JSON scalar means as a value of a SQL type, by Flink's rules: numbers may stand in quotes, any
// scalar is a text, a number with a fraction of zero is an integer.
//
// Free functions for the decoder's loop; false = it is not such a value. `text` of an escaped string must
// have been unescaped before. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "data/int128.h"
#include "data/type.h"
#include "format/json_cursor.h"
#include "format/json_options.h"

namespace caudal {

bool JsonToInteger(const JsonScalar& scalar, int64_t min, int64_t max, int64_t* out);
bool JsonToDouble(const JsonScalar& scalar, double* out);
bool JsonToFloat(const JsonScalar& scalar, float* out);
bool JsonToBoolean(const JsonScalar& scalar);
// `fits`: false when it is a number with too many digits, which is NULL in Flink.
bool JsonToDecimal64(const JsonScalar& scalar, int precision, int scale, int64_t* out, bool* fits);
bool JsonToDecimal128(const JsonScalar& scalar, int precision, int scale, int128_t* out, bool* fits);
bool JsonToDate(const JsonScalar& scalar, int32_t* days);
bool JsonToTime(const JsonScalar& scalar, int precision, int32_t* millis);
bool JsonToTimestamp(const JsonScalar& scalar, const Type& type, TimestampForm form, int64_t* ticks);
// A JSON number of at most 17 digits and a point, without exponent, as digits and how many of them are the
// fraction. False for anything else, so that the general way decides. REQUIRES: !token.empty(), here and
// below.
bool ReadPlainNumber(std::string_view token, int64_t* unscaled, int* fraction);
// Such a number that needs no rounding and fits, as the unscaled value.
bool JsonToPlainDecimal(std::string_view token, int precision, int scale, int64_t* out);
bool JsonToPlainDouble(std::string_view token, double* out);

// Timestamps in the usual layout, "2024-02-29 10:11:12.123", quickly: the days of the last date are kept,
// since the next row's date is mostly the same. False for any other layout.
class JsonTimestampCache {
 public:
  JsonTimestampCache() = default;
  JsonTimestampCache(const Type& type, TimestampForm form);
  bool Parse(std::string_view text, int64_t* ticks);

 private:
  char separator_ = ' ';
  bool zulu_ = false;  // ends with Z
  int precision_ = 0;
  int64_t per_second_ = 0;
  char date_[10] = {};
  int64_t date_seconds_ = 0;  // of the midnight of date_
};

// Base64, appended to `out`.
bool JsonToBytes(const JsonScalar& scalar, std::string* out);

// Least and greatest value of an integer type. REQUIRES: type.is_integer().
struct IntegerRange {
  int64_t min, max;
};
IntegerRange RangeOf(TypeId id);

}  // namespace caudal
