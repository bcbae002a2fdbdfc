// Dates, times and timestamps to text and back, and the calendar arithmetic behind them.
//
// Physical forms as in Type: days, milliseconds of the day, ticks (µs up to precision 6, else ns). Free
// functions for hot paths: no allocation, no Status. Parse… return false when the text is no such time;
// Format… write at most the stated number of bytes and return how many. The calendar is the proleptic
// Gregorian one, years 0 … 9999 in text. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace caudal {

inline constexpr size_t kDateTextSize = 16;
inline constexpr size_t kTimeTextSize = 24;
inline constexpr size_t kTimestampTextSize = 40;
inline constexpr int64_t kMillisPerDay = 86'400'000;
inline constexpr int64_t kSecondsPerDay = 86'400;

struct CivilDate {
  int64_t year;
  int32_t month;  // 1 … 12
  int32_t day;    // 1 … 31
};

// Days since 1970-01-01. REQUIRES: month is 1 … 12.
int64_t DaysFromCivil(int64_t year, int month, int day);
CivilDate CivilFromDays(int64_t days);
int DaysInMonth(int64_t year, int month);

// Rounds toward minus infinity, as times before 1970 need. REQUIRES: divisor > 0.
constexpr int64_t FloorDivide(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}
constexpr int64_t FloorModulo(int64_t value, int64_t divisor) {
  const int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}
constexpr int64_t TicksPerSecond(int precision) { return precision <= 6 ? 1'000'000 : 1'000'000'000; }
// Cuts what lies beyond `precision` fraction digits (toward minus infinity).
int64_t TruncateTicks(int64_t ticks, int precision);

// As CAST(text AS DATE): "2024-02-29", also "2024-2-9", "2024-02", "2024", and whatever follows a blank.
bool ParseDate(std::string_view text, int32_t* days);
// As CAST(text AS TIME(precision)): "10:11:12.345", "10:11", "10". Milliseconds, cut to the precision.
bool ParseTime(std::string_view text, int precision, int32_t* millis);
// As CAST(text AS TIMESTAMP(precision)): "2024-02-29 10:11:12.123456789", the time or its fraction optional,
// one-digit month … second allowed; the fraction is cut to the precision. Day 30 or 31 of a shorter month is
// its last day, as in Flink. False beyond what an int64 holds.
bool ParseTimestamp(std::string_view text, int precision, int64_t* ticks);

// How a format writes timestamps.
enum class TimestampForm : uint8_t {
  kSql,     // 2024-02-29 10:11:12.123
  kIso8601  // 2024-02-29T10:11:12.123
};
// Exactly that form, nothing around it: what JSON's TIMESTAMP takes. Seconds may be missing in ISO-8601.
bool ParseTimestampIn(TimestampForm form, std::string_view text, int precision, int64_t* ticks);
// The same with a zone at the end, what TIMESTAMP_LTZ takes: "Z", or an offset ("+02:00") in ISO-8601.
bool ParseInstantIn(TimestampForm form, std::string_view text, int precision, int64_t* ticks);

size_t FormatDate(int64_t days, char* out);                   // kDateTextSize
size_t FormatTime(int32_t millis, int precision, char* out);  // kTimeTextSize
// "2024-02-29 10:11:12.100": as many fraction digits as the precision.
size_t FormatTimestamp(int64_t ticks, int precision, char* out);  // kTimestampTextSize
// As a format writes it: the fraction without trailing zeros (none at all in ISO-8601 seconds), `zulu` adds
// Z.
size_t FormatTimestampIn(TimestampForm form, int64_t ticks, int precision, bool zulu, char* out);

// "+1-02" and "+1 02:03:04.005". kTimestampTextSize each.
size_t FormatYearMonthInterval(int32_t months, char* out);
size_t FormatDayTimeInterval(int64_t millis, char* out);

}  // namespace caudal
