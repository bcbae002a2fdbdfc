#include "expr/functions/time_unit.h"

#include <fmt/format.h>

#include "data/text/time_text.h"
#include "expr/cast/cast.h"
#include "expr/functions/interval_arithmetic.h"
#include "expr/kernel.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

struct UnitName {
  std::string_view name;
  Unit unit;
};
constexpr UnitName kUnitNames[] = {
    {"YEAR", Unit::kYear},
    {"QUARTER", Unit::kQuarter},
    {"MONTH", Unit::kMonth},
    {"WEEK", Unit::kWeek},
    {"DAY", Unit::kDay},
    {"HOUR", Unit::kHour},
    {"MINUTE", Unit::kMinute},
    {"SECOND", Unit::kSecond},
    {"MILLISECOND", Unit::kMillisecond},
    {"MICROSECOND", Unit::kMicrosecond},
    {"NANOSECOND", Unit::kNanosecond},
    {"EPOCH", Unit::kEpoch},
    {"DOW", Unit::kDow},
    {"ISODOW", Unit::kIsoDow},
    {"DOY", Unit::kDoy},
    {"ISOYEAR", Unit::kIsoYear},
    {"DECADE", Unit::kDecade},
    {"CENTURY", Unit::kCentury},
    {"MILLENNIUM", Unit::kMillennium},
};

constexpr int64_t kNanosPerMilli = 1'000'000;

// 1 = Monday … 7 = Sunday.
int64_t IsoDayOfWeek(int64_t days) { return FloorModulo(days + 3, 7) + 1; }

// The Thursday of a day's ISO week lies in the week's year.
int64_t ThursdayOf(int64_t days) { return days - IsoDayOfWeek(days) + 4; }

int64_t DayOfYear(int64_t days) { return days - DaysFromCivil(CivilFromDays(days).year, 1, 1) + 1; }

// From the start of a period on, with the sign of `value`: year 1900 is in century 19, 1901 in 20.
int64_t Period(int64_t year, int64_t length) { return (year + length - 1) / length; }

int64_t DateField(Unit unit, int64_t days) {
  const CivilDate date = CivilFromDays(days);
  switch (unit) {
    case Unit::kYear:
      return date.year;
    case Unit::kQuarter:
      return (date.month + 2) / 3;
    case Unit::kMonth:
      return date.month;
    case Unit::kDay:
      return date.day;
    case Unit::kDecade:
      return date.year / 10;
    case Unit::kCentury:
      return Period(date.year, 100);
    case Unit::kMillennium:
      return Period(date.year, 1000);
    case Unit::kDow:
      return IsoDayOfWeek(days) % 7 + 1;
    case Unit::kIsoDow:
      return IsoDayOfWeek(days);
    case Unit::kDoy:
      return DayOfYear(days);
    case Unit::kWeek:
      return (DayOfYear(ThursdayOf(days)) + 6) / 7;
    default:
      return CivilFromDays(ThursdayOf(days)).year;
  }
}

// The first day of the period that holds `days`; with `up`, of the next one unless `days` is a first day.
int64_t RoundDays(Unit unit, int64_t days, bool up) {
  const CivilDate date = CivilFromDays(days);
  int64_t start = days;
  int months = 0;
  switch (unit) {
    case Unit::kYear:
      start = DaysFromCivil(date.year, 1, 1);
      months = 12;
      break;
    case Unit::kQuarter:
      start = DaysFromCivil(date.year, (date.month - 1) / 3 * 3 + 1, 1);
      months = 3;
      break;
    case Unit::kMonth:
      start = days - date.day + 1;
      months = 1;
      break;
    case Unit::kWeek:  // weeks begin on Sunday here
      start = days - IsoDayOfWeek(days) % 7;
      return up && start != days ? start + 7 : start;
    default:
      return days;
  }
  return up && start != days ? AddMonths(start, months) : start;
}

int64_t UnitMillis(Unit unit) {
  switch (unit) {
    case Unit::kDay:
      return kMillisPerDay;
    case Unit::kHour:
      return 3'600'000;
    case Unit::kMinute:
      return 60'000;
    case Unit::kSecond:
      return 1000;
    case Unit::kMillisecond:
      return 1;
    default:
      return 0;
  }
}

int64_t RoundToUnit(int64_t value, int64_t unit, bool up) {
  return FloorDivide(up ? value + unit - 1 : value, unit) * unit;
}

// Months and longer: Flink finds the day by cutting toward zero.
int64_t RoundTicks(Unit unit, int64_t ticks, int64_t per_second, bool up) {
  const int64_t millis = UnitMillis(unit);
  if (millis > 0) return RoundToUnit(ticks, millis * (per_second / 1000), up);
  const int64_t per_day = per_second * kSecondsPerDay;
  return RoundDays(unit, FloorDivide(ticks, per_second / 1000) / kMillisPerDay, up) * per_day;
}

}  // namespace

std::optional<Unit> FindUnit(std::string_view word) {
  for (const UnitName& entry : kUnitNames) {
    if (entry.name == word) return entry.unit;
  }
  return std::nullopt;
}

Result<Unit> LiteralUnit(std::span<const Value* const> literals, size_t index) {
  const std::string* word = nullptr;
  if (index < literals.size() && literals[index] != nullptr) {
    word = std::get_if<std::string>(&literals[index]->data);
  }
  const std::optional<Unit> unit = word == nullptr ? std::nullopt : FindUnit(*word);
  if (unit) return *unit;
  return Status::User(fmt::format("argument {} is no unit of time", index + 1))
      .Hint("write a bare word such as DAY or HOUR");
}

Unit UnitOf(const KernelCall& call, size_t index) {
  const std::optional<Unit> unit = FindUnit(std::get<std::string>(call.expr.args[index].literal.data));
  CHECK(unit.has_value());
  return *unit;
}

int64_t ExtractField(Unit unit, int64_t days, int64_t nanos) {
  switch (unit) {
    case Unit::kHour:
      return nanos / (3600 * 1000 * kNanosPerMilli);
    case Unit::kMinute:
      return nanos / (60 * 1000 * kNanosPerMilli) % 60;
    case Unit::kSecond:
      return nanos / (1000 * kNanosPerMilli) % 60;
    case Unit::kMillisecond:
      return nanos / kNanosPerMilli % 1000;
    case Unit::kMicrosecond:
      return nanos / 1000 % 1'000'000;
    case Unit::kNanosecond:
      return nanos % 1'000'000'000;
    case Unit::kEpoch:
      return days * kSecondsPerDay + nanos / (1000 * kNanosPerMilli);
    default:
      return DateField(unit, days);
  }
}

Result<Signature> ResolveRoundToUnit(std::span<const Type> args, std::span<const Value* const> literals) {
  const Type& type = args[0];
  const bool time = type.is_timestamp() || type.id() == TypeId::kDate || type.id() == TypeId::kTime;
  if (!time) return WrongArgument(0, type, "a DATE, TIME or TIMESTAMP before TO");
  ASSIGN_OR_RETURN(const Unit unit, LiteralUnit(literals, 1));
  const bool rounds = UnitMillis(unit) > 0 || unit <= Unit::kWeek;
  if (!rounds) return Status::User("a time cannot be rounded to this unit").Hint("use YEAR … SECOND");
  if (type.id() == TypeId::kTime && UnitMillis(unit) == 0) {
    return Status::User("a TIME has no unit longer than an hour");
  }
  return Signature{type, {type, args[1]}};
}

ColumnPtr RoundToUnitKernel(KernelCall& call, bool up) {
  const Type& type = call.expr.type;
  const Unit unit = UnitOf(call, 1);
  if (type.id() == TypeId::kDate) {
    return MapUnary<int32_t, int32_t>(
        call, [=](int32_t days) { return static_cast<int32_t>(RoundDays(unit, days, up)); });
  }
  if (type.id() == TypeId::kTime) {
    const int64_t millis = UnitMillis(unit);
    return MapUnary<int32_t, int32_t>(call, [=](int32_t value) {
      return static_cast<int32_t>(RoundToUnit(value, millis, up) % kMillisPerDay);
    });
  }
  const int64_t per_second = type.ticks_per_second();
  if (type.id() == TypeId::kTimestamp) {
    return MapUnary<int64_t, int64_t>(call,
                                      [=](int64_t ticks) { return RoundTicks(unit, ticks, per_second, up); });
  }
  // On the wall clock, with the offset that held at the instant itself.
  TimeZone& zone = call.evaluator.zone();
  return MapUnary<int64_t, int64_t>(call, [=, &zone](int64_t ticks) {
    const int64_t offset = zone.OffsetAt(FloorDivide(ticks, per_second)) * per_second;
    return RoundTicks(unit, ticks + offset, per_second, up) - offset;
  });
}

}  // namespace caudal
