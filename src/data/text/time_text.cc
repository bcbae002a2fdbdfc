#include "data/text/time_text.h"

#include <charconv>
#include <cstring>

namespace caudal {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kNanoPowers[] = {1,       10,        100,        1'000,       10'000,
                                   100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

bool IsClockDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Takes `least` to `most` digits from the front.
bool TakeNumber(std::string_view* text, size_t least, size_t most, int* out) {
  size_t n = 0;
  int value = 0;
  while (n < most && n < text->size() && IsClockDigit((*text)[n])) value = value * 10 + ((*text)[n++] - '0');
  if (n < least) return false;
  text->remove_prefix(n);
  *out = value;
  return true;
}

bool TakeSign(std::string_view* text, char sign) {
  if (text->empty() || text->front() != sign) return false;
  text->remove_prefix(1);
  return true;
}

// A fraction of a second: up to nine digits after a point, cut to `precision` of them, in nanoseconds.
bool TakeFraction(std::string_view* text, int precision, int32_t* nanos) {
  *nanos = 0;
  if (!TakeSign(text, '.')) return true;
  int value = 0;
  int kept = 0;
  size_t n = 0;
  for (; n < text->size() && IsClockDigit((*text)[n]); ++n) {
    if (kept == precision) continue;
    value = value * 10 + ((*text)[n] - '0');
    ++kept;
  }
  if (n > 9) return false;
  text->remove_prefix(n);
  *nanos = static_cast<int32_t>(value * kNanoPowers[9 - kept]);
  return true;
}

// False when the instant does not fit ticks of the precision. REQUIRES: nanos is cut to it.
bool ToTicks(int64_t days, int64_t second_of_day, int32_t nanos, int precision, int64_t* ticks) {
  const int64_t seconds = days * kSecondsPerDay + second_of_day;
  if (precision <= 6) {
    *ticks = seconds * 1'000'000 + nanos / 1000;
    return true;
  }
  int64_t value = 0;
  if (__builtin_mul_overflow(seconds, kNanosPerSecond, &value)) return false;
  if (__builtin_add_overflow(value, nanos, &value)) return false;
  *ticks = value;
  return true;
}

// Two digits at `at`; adds to `bad` when they are none.
inline int Two(const char* at, unsigned* bad) {
  const unsigned tens = static_cast<unsigned char>(at[0]) - '0';
  const unsigned ones = static_cast<unsigned char>(at[1]) - '0';
  *bad |= static_cast<unsigned>(tens > 9) | static_cast<unsigned>(ones > 9);
  return static_cast<int>(tens * 10 + ones);
}

// "yyyy-MM-dd?HH:mm:ss" at fixed places, then nothing or a fraction: almost every timestamp there is.
bool ParseFixed(std::string_view text, char divider, int precision, int64_t* ticks) {
  if (text.size() < 19) return false;
  const char* t = text.data();
  if (t[4] != '-' || t[7] != '-' || t[10] != divider || t[13] != ':' || t[16] != ':') return false;
  unsigned bad = 0;
  const int year = Two(t, &bad) * 100 + Two(t + 2, &bad);
  const int month = Two(t + 5, &bad);
  const int day = Two(t + 8, &bad);
  const int hour = Two(t + 11, &bad);
  const int minute = Two(t + 14, &bad);
  const int second = Two(t + 17, &bad);
  if (bad != 0 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return false;
  if (day > 28 && day > DaysInMonth(year, month)) return false;
  int32_t nanos = 0;
  text.remove_prefix(19);
  if (!text.empty() && (text.size() < 2 || !TakeFraction(&text, precision, &nanos) || !text.empty()))
    return false;
  return ToTicks(DaysFromCivil(year, month, day), hour * 3600 + minute * 60 + second, nanos, precision,
                 ticks);
}

// "+02:00", "-0330", "+02". Seconds east of Greenwich.
bool ParseOffset(std::string_view text, int64_t* seconds) {
  const bool west = !text.empty() && text[0] == '-';
  if (text.empty() || (!west && text[0] != '+')) return false;
  text.remove_prefix(1);
  int hour = 0;
  int minute = 0;
  if (!TakeNumber(&text, 2, 2, &hour)) return false;
  TakeSign(&text, ':');
  if (!text.empty() && !TakeNumber(&text, 2, 2, &minute)) return false;
  if (!text.empty() || hour > 18 || minute > 59) return false;
  *seconds = (hour * 3600 + minute * 60) * (west ? -1 : 1);
  return true;
}

void WriteDigits(char* out, int64_t value, int width) {
  for (int i = width - 1; i >= 0; --i, value /= 10) out[i] = static_cast<char>('0' + value % 10);
}

// "HH:mm:ss"; returns the end.
char* WriteClock(char* out, int64_t second_of_day) {
  WriteDigits(out, second_of_day / 3600, 2);
  out[2] = ':';
  WriteDigits(out + 3, second_of_day / 60 % 60, 2);
  out[5] = ':';
  WriteDigits(out + 6, second_of_day % 60, 2);
  return out + 8;
}

// Seconds and nanoseconds from ticks.
void Split(int64_t ticks, int precision, int64_t* seconds, int32_t* nanos) {
  const int64_t unit = TicksPerSecond(precision);
  *seconds = FloorDivide(ticks, unit);
  *nanos = static_cast<int32_t>((ticks - *seconds * unit) * (kNanosPerSecond / unit));
}

bool TakeTrimmedInteger(std::string_view text, int* out) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text.size() <= 9 && TakeNumber(&text, 1, 9, out) && text.empty();
}

}  // namespace

// Howard Hinnant's algorithms ("chrono-compatible low-level date algorithms"), in eras of 400 years.
int64_t DaysFromCivil(int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = FloorDivide(year, 400);
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

CivilDate CivilFromDays(int64_t days) {
  days += 719468;
  const int64_t era = FloorDivide(days, 146097);
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int32_t shifted = static_cast<int32_t>((5 * day_of_year + 2) / 153);
  const int32_t day = static_cast<int32_t>(day_of_year) - (153 * shifted + 2) / 5 + 1;
  const int32_t month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

int DaysInMonth(int64_t year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[month - 1];
}

int64_t TruncateTicks(int64_t ticks, int precision) {
  const int64_t unit = precision <= 6 ? kNanoPowers[6 - precision] : kNanoPowers[9 - precision];
  return unit == 1 ? ticks : FloorDivide(ticks, unit) * unit;
}

bool ParseDate(std::string_view text, int32_t* days) {
  const size_t blank = text.find(' ');
  if (blank != std::string_view::npos && blank > 0) text = text.substr(0, blank);
  int year = 0;
  int month = 1;
  int day = 1;
  const size_t first = text.find('-');
  if (!TakeTrimmedInteger(text.substr(0, first), &year)) return false;
  if (first != std::string_view::npos) {
    const size_t second = text.find('-', first + 1);
    const size_t length = second == std::string_view::npos ? second : second - first - 1;
    if (!TakeTrimmedInteger(text.substr(first + 1, length), &month)) return false;
    if (second != std::string_view::npos && !TakeTrimmedInteger(text.substr(second + 1), &day)) return false;
  }
  if (year > 9999 || month < 1 || month > 12 || day < 1 || day > DaysInMonth(year, month)) return false;
  *days = static_cast<int32_t>(DaysFromCivil(year, month, day));
  return true;
}

bool ParseTime(std::string_view text, int precision, int32_t* millis) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  int hour = 0;
  int minute = 0;
  int second = 0;
  int32_t nanos = 0;
  if (!TakeNumber(&text, 1, 2, &hour)) return false;
  if (TakeSign(&text, ':')) {
    if (!TakeNumber(&text, 1, 2, &minute)) return false;
    if (TakeSign(&text, ':') &&
        (!TakeNumber(&text, 1, 2, &second) || !TakeFraction(&text, precision, &nanos)))
      return false;
  }
  if (!text.empty() || hour > 23 || minute > 59 || second > 59) return false;
  *millis = (hour * 3600 + minute * 60 + second) * 1000 + nanos / 1'000'000;
  return true;
}

bool ParseTimestamp(std::string_view text, int precision, int64_t* ticks) {
  if (ParseFixed(text, ' ', precision, ticks)) return true;
  int year = 0;
  int month = 0;
  int day = 0;
  if (!TakeNumber(&text, 4, 4, &year) || !TakeSign(&text, '-') || !TakeNumber(&text, 1, 2, &month) ||
      !TakeSign(&text, '-') || !TakeNumber(&text, 1, 2, &day)) {
    return false;
  }
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > 31) return false;
  if (day > DaysInMonth(year, month)) day = DaysInMonth(year, month);
  int hour = 0;
  int minute = 0;
  int second = 0;
  int32_t nanos = 0;
  if (!text.empty()) {
    if (!TakeSign(&text, ' ') || !TakeNumber(&text, 1, 2, &hour) || !TakeSign(&text, ':') ||
        !TakeNumber(&text, 1, 2, &minute) || !TakeSign(&text, ':') || !TakeNumber(&text, 1, 2, &second) ||
        !TakeFraction(&text, precision, &nanos) || !text.empty()) {
      return false;
    }
  }
  if (hour > 23 || minute > 59 || second > 59) return false;
  return ToTicks(DaysFromCivil(year, month, day), hour * 3600 + minute * 60 + second, nanos, precision,
                 ticks);
}

bool ParseTimestampIn(TimestampForm form, std::string_view text, int precision, int64_t* ticks) {
  if (form == TimestampForm::kSql) return ParseFixed(text, ' ', precision, ticks);
  if (text.size() != 16) return ParseFixed(text, 'T', precision, ticks);
  char whole[19];  // "2024-02-29T10:11": the seconds are left out
  std::memcpy(whole, text.data(), 16);
  std::memcpy(whole + 16, ":00", 3);
  return ParseFixed(std::string_view(whole, 19), 'T', precision, ticks);
}

bool ParseInstantIn(TimestampForm form, std::string_view text, int precision, int64_t* ticks) {
  if (text.empty()) return false;
  if (text.back() == 'Z') return ParseTimestampIn(form, text.substr(0, text.size() - 1), precision, ticks);
  if (form != TimestampForm::kIso8601 || text.size() < 16) return false;
  const size_t sign = text.find_first_of("+-", 11);
  int64_t offset = 0;
  if (sign == std::string_view::npos || !ParseOffset(text.substr(sign), &offset)) return false;
  int64_t local = 0;
  if (!ParseTimestampIn(form, text.substr(0, sign), precision, &local)) return false;
  return !__builtin_sub_overflow(local, offset * TicksPerSecond(precision), ticks);
}

size_t FormatDate(int64_t days, char* out) {
  const CivilDate date = CivilFromDays(days);
  char* to = out;
  if (date.year < 0 || date.year > 9999) {
    if (date.year > 9999) *to++ = '+';
    to = std::to_chars(to, to + 8, date.year).ptr;
  } else {
    WriteDigits(to, date.year, 4);
    to += 4;
  }
  to[0] = '-';
  WriteDigits(to + 1, date.month, 2);
  to[3] = '-';
  WriteDigits(to + 4, date.day, 2);
  return static_cast<size_t>(to + 6 - out);
}

size_t FormatTime(int32_t millis, int precision, char* out) {
  char* to = WriteClock(out, millis / 1000);
  if (precision > 0) {
    const int digits = precision < 3 ? precision : 3;
    *to++ = '.';
    WriteDigits(to, millis % 1000 / kNanoPowers[3 - digits], digits);
    to += digits;
    for (int i = digits; i < precision; ++i) *to++ = '0';
  }
  return static_cast<size_t>(to - out);
}

size_t FormatTimestamp(int64_t ticks, int precision, char* out) {
  int64_t seconds = 0;
  int32_t nanos = 0;
  Split(ticks, precision, &seconds, &nanos);
  const int64_t days = FloorDivide(seconds, kSecondsPerDay);
  char* to = out + FormatDate(days, out);
  *to++ = ' ';
  to = WriteClock(to, seconds - days * kSecondsPerDay);
  if (precision > 0) {
    *to++ = '.';
    WriteDigits(to, nanos / kNanoPowers[9 - precision], precision);
    to += precision;
  }
  return static_cast<size_t>(to - out);
}

size_t FormatTimestampIn(TimestampForm form, int64_t ticks, int precision, bool zulu, char* out) {
  size_t size = FormatTimestamp(ticks, precision, out);
  if (form == TimestampForm::kIso8601) {
    *static_cast<char*>(std::memchr(out, ' ', size)) = 'T';
  }
  if (precision > 0) {
    while (out[size - 1] == '0') --size;
    if (out[size - 1] == '.') --size;
  }
  if (zulu) out[size++] = 'Z';
  return size;
}

size_t FormatYearMonthInterval(int32_t months, char* out) {
  const int64_t size = months < 0 ? -static_cast<int64_t>(months) : months;
  out[0] = months < 0 ? '-' : '+';
  char* to = std::to_chars(out + 1, out + 16, size / 12).ptr;
  *to++ = '-';
  WriteDigits(to, size % 12, 2);
  return static_cast<size_t>(to + 2 - out);
}

size_t FormatDayTimeInterval(int64_t millis, char* out) {
  const uint64_t size = millis < 0 ? 0 - static_cast<uint64_t>(millis) : static_cast<uint64_t>(millis);
  out[0] = millis < 0 ? '-' : '+';
  char* to = std::to_chars(out + 1, out + 24, size / kMillisPerDay).ptr;
  *to++ = ' ';
  const int64_t rest = static_cast<int64_t>(size % kMillisPerDay);
  to = WriteClock(to, rest / 1000);
  *to++ = '.';
  WriteDigits(to, rest % 1000, 3);
  return static_cast<size_t>(to + 3 - out);
}

}  // namespace caudal
