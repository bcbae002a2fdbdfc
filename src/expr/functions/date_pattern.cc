#include "expr/functions/date_pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/text/time_text.h"

namespace caudal {
namespace {

constexpr std::string_view kMonthNames[] = {"January",   "February", "March",    "April",
                                            "May",       "June",     "July",     "August",
                                            "September", "October",  "November", "December"};
constexpr std::string_view kDayNames[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                          "Friday", "Saturday", "Sunday"};
constexpr int kShortName = 3;

void AppendPaddedNumber(int64_t value, int width, std::string* out) {
  char digits[20];
  char* at = digits + sizeof(digits);
  if (value < 0) {
    *out += fmt::format("{:0{}}", value, width);
    return;
  }
  do {
    *--at = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value > 0);
  const auto size = digits + sizeof(digits) - at;
  if (size < width) out->append(static_cast<size_t>(width - size), '0');
  out->append(at, static_cast<size_t>(size));
}

std::string_view NameFor(std::string_view name, int width) {
  return width == 3 ? name.substr(0, kShortName) : name;
}

template <size_t kCount>
bool TakeName(const std::string_view (&names)[kCount], int width, std::string_view* text, int* index) {
  for (size_t i = 0; i < kCount; ++i) {
    const std::string_view name = NameFor(names[i], width);
    if (!text->starts_with(name)) continue;
    text->remove_prefix(name.size());
    *index = static_cast<int>(i);
    return true;
  }
  return false;
}

// A number of `least` to `most` digits.
bool TakeDigits(std::string_view* text, int least, int most, int* value) {
  int n = 0;
  int64_t number = 0;
  while (n < most && n < static_cast<int>(text->size()) && (*text)[n] >= '0' && (*text)[n] <= '9') {
    number = number * 10 + ((*text)[n++] - '0');
  }
  if (n < least || number > 999'999'999) return false;
  text->remove_prefix(static_cast<size_t>(n));
  *value = static_cast<int>(number);
  return true;
}

}  // namespace

// What was read so far.
struct DatePattern::Fields {
  int year = 1970, month = 1, day = 1, day_of_year = 0, hour = 0, minute = 0, second = 0;
  int32_t nanos = 0;
  int half = -1;  // of the day: 0 AM, 1 PM
};

Result<DatePattern> DatePattern::Compile(std::string_view pattern) {
  DatePattern compiled;
  const auto add_text = [&](char c) {
    if (compiled.parts_.empty() || compiled.parts_.back().letter != '\0')
      compiled.parts_.push_back({'\0', 0, ""});
    compiled.parts_.back().text += c;
  };
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\'') {
      if (i + 1 < pattern.size() && pattern[i + 1] == '\'') {
        add_text(pattern[++i]);
        continue;
      }
      const size_t end = pattern.find('\'', i + 1);
      if (end == std::string_view::npos) {
        return Status::User(fmt::format("the time pattern '{}' has a quote that does not end", pattern));
      }
      for (const char quoted : pattern.substr(i + 1, end - i - 1)) add_text(quoted);
      i = end;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      if (std::string_view("yuMdDHhkKmsSnaE").find(c) == std::string_view::npos) {
        return Status::User(fmt::format("the letter '{}' of the time pattern '{}' is not built", c, pattern))
            .Hint("use y M d D H h m s S a E, and put text in quotes");
      }
      int width = 1;
      while (i + 1 < pattern.size() && pattern[i + 1] == c) {
        ++i;
        ++width;
      }
      compiled.parts_.push_back({c, width, ""});
    } else {
      add_text(c);
    }
  }
  compiled.steady_seconds_ = compiled.SteadySeconds();
  return compiled;
}

int64_t DatePattern::SteadySeconds() const {
  int64_t steady = kSecondsPerDay;
  for (const Part& part : parts_) {
    switch (part.letter) {
      case 'a':
      case 'H':
      case 'h':
      case 'k':
      case 'K':
        steady = std::min<int64_t>(steady, 3600);
        break;
      case 'm':
        steady = std::min<int64_t>(steady, 60);
        break;
      case 's':
        steady = std::min<int64_t>(steady, 1);
        break;
      case 'S':
      case 'n':
        return 0;
      default:
        break;
    }
  }
  return steady;
}

void DatePattern::Format(const Clock& clock, std::string* out) const {
  const int64_t days = FloorDivide(clock.seconds, kSecondsPerDay);
  const int64_t second_of_day = clock.seconds - days * kSecondsPerDay;
  const CivilDate date = CivilFromDays(days);
  const int64_t hour = second_of_day / 3600;
  for (const Part& part : parts_) {
    switch (part.letter) {
      case '\0':
        *out += part.text;
        break;
      case 'y':
      case 'u':
        AppendPaddedNumber(part.width == 2 ? FloorModulo(date.year, 100) : date.year, part.width, out);
        break;
      case 'M':
        if (part.width >= 3) {
          *out += NameFor(kMonthNames[date.month - 1], part.width);
        } else {
          AppendPaddedNumber(date.month, part.width, out);
        }
        break;
      case 'd':
        AppendPaddedNumber(date.day, part.width, out);
        break;
      case 'D':
        AppendPaddedNumber(days - DaysFromCivil(date.year, 1, 1) + 1, part.width, out);
        break;
      case 'H':
        AppendPaddedNumber(hour, part.width, out);
        break;
      case 'h':
        AppendPaddedNumber((hour + 11) % 12 + 1, part.width, out);
        break;
      case 'k':
        AppendPaddedNumber((hour + 23) % 24 + 1, part.width, out);
        break;
      case 'K':
        AppendPaddedNumber(hour % 12, part.width, out);
        break;
      case 'm':
        AppendPaddedNumber(second_of_day / 60 % 60, part.width, out);
        break;
      case 's':
        AppendPaddedNumber(second_of_day % 60, part.width, out);
        break;
      case 'S':
        *out += fmt::format("{:09}", clock.nanos).substr(0, static_cast<size_t>(std::min(part.width, 9)));
        break;
      case 'n':
        AppendPaddedNumber(clock.nanos, part.width, out);
        break;
      case 'a':
        *out += hour < 12 ? "AM" : "PM";
        break;
      default:
        *out += NameFor(kDayNames[FloorModulo(days + 3, 7)], std::max(part.width, kShortName));
        break;
    }
  }
}

bool DatePattern::ParsePart(const Part& part, bool adjacent, std::string_view* text, Fields* fields) const {
  if (part.letter == '\0') {
    if (!text->starts_with(part.text)) return false;
    text->remove_prefix(part.text.size());
    return true;
  }
  // A lone letter takes what digits there are; with another number right behind it, only its own width.
  const int most = adjacent || part.width > 1 ? part.width : 19;
  int number = 0;
  switch (part.letter) {
    case 'M':
      if (part.width >= 3) {
        if (!TakeName(kMonthNames, part.width, text, &number)) return false;
        fields->month = number + 1;
        return true;
      }
      return TakeDigits(text, part.width, most, &fields->month);
    case 'E':
      return TakeName(kDayNames, std::max(part.width, kShortName), text, &number);
    case 'a':
      if (!text->starts_with("AM") && !text->starts_with("PM")) return false;
      fields->half = text->front() == 'P' ? 1 : 0;
      text->remove_prefix(2);
      return true;
    case 'S':
      if (part.width > 9 || !TakeDigits(text, part.width, part.width, &number)) return false;
      for (int i = part.width; i < 9; ++i) number *= 10;
      fields->nanos = number;
      return true;
    default:
      break;
  }
  if (!TakeDigits(text, part.width, most, &number)) return false;
  switch (part.letter) {
    case 'y':
    case 'u':
      fields->year = part.width == 2 ? 2000 + number : number;
      return true;
    case 'd':
      fields->day = number;
      return true;
    case 'D':
      fields->day_of_year = number;
      return number > 0;
    case 'm':
      fields->minute = number;
      return true;
    case 's':
      fields->second = number;
      return true;
    case 'n':
      fields->nanos = number;
      return true;
    default:
      fields->hour = part.letter == 'h' ? number % 12 : part.letter == 'k' ? number % 24 : number;
      return true;
  }
}

bool DatePattern::Parse(std::string_view text, bool whole, Clock* clock) const {
  Fields fields;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const bool adjacent = i + 1 < parts_.size() && parts_[i + 1].letter != '\0';
    if (!ParsePart(parts_[i], adjacent, &text, &fields)) return false;
  }
  if (whole && !text.empty()) return false;
  if (fields.half == 1) fields.hour += 12;
  const bool valid = fields.month >= 1 && fields.month <= 12 && fields.day >= 1 && fields.day <= 31 &&
                     fields.hour <= 23 && fields.minute <= 59 && fields.second <= 59 && fields.year <= 9999;
  if (!valid) return false;
  int64_t days = DaysFromCivil(fields.year, fields.month, 1) +
                 std::min(fields.day, DaysInMonth(fields.year, fields.month)) - 1;
  if (fields.day_of_year > 0) days = DaysFromCivil(fields.year, 1, 1) + fields.day_of_year - 1;
  clock->seconds = days * kSecondsPerDay + fields.hour * 3600 + fields.minute * 60 + fields.second;
  clock->nanos = fields.nanos;
  return true;
}

}  // namespace caudal
