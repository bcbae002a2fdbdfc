// Temporal functions on times themselves: EXTRACT and its short forms, TIMESTAMPADD, TIMESTAMPDIFF, the
// clock.
#include <fmt/format.h>

#include <algorithm>

#include "data/text/time_text.h"
#include "expr/cast/cast.h"
#include "expr/functions/families.h"
#include "expr/functions/interval_arithmetic.h"
#include "expr/functions/signature_pattern.h"
#include "expr/functions/time_unit.h"
#include "expr/kernel.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

bool IsDateOrTimestamp(const Type& type) { return type.id() == TypeId::kDate || type.is_timestamp(); }

// --- EXTRACT
// -------------------------------------------------------------------------------------------------

Status CheckExtract(Unit unit, const Type& type, size_t index) {
  if (type.id() == TypeId::kTime) {
    if (unit >= Unit::kHour && unit <= Unit::kNanosecond) return Status();
    return Status::User("a TIME has no such field");
  }
  if (type.id() == TypeId::kDate && unit >= Unit::kHour && unit <= Unit::kNanosecond) {
    return Status::User("a DATE has no time of day");
  }
  if (IsDateOrTimestamp(type) || type.id() == TypeId::kNull) return Status();
  return WrongArgument(index, type, "a DATE, TIME or TIMESTAMP");
}

Result<Signature> ResolveExtract(std::span<const Type> args, std::span<const Value* const> literals) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, 2));
  ASSIGN_OR_RETURN(const Unit unit, LiteralUnit(literals, 0));
  RETURN_IF_ERROR(CheckExtract(unit, args[1], 1));
  const Type type = args[1].id() == TypeId::kNull ? Type::Timestamp(3) : args[1];
  return Signature{Type(TypeId::kBigInt, type.nullable()), {args[0], type}};
}

ColumnPtr ExtractUnit(KernelCall& call, Unit unit, const ColumnPtr& column) {
  Output<int64_t> out(call.physical_rows);
  const Type& type = column->type();
  if (type.physical() == Physical::kInt32) {
    const bool date = type.id() == TypeId::kDate;
    const ColumnView<int32_t> values(*column);
    ForEachRow(call.rows, [&](int32_t row) {
      const int64_t value = values[row];
      out.Set(row, date ? ExtractField(unit, value, 0) : ExtractField(unit, 0, value * 1'000'000));
    });
    return out.Finish(call.expr.type);
  }
  const int precision = type.precision();
  const bool instant = type.id() == TypeId::kTimestampLtz;
  const int64_t nanos_per_tick = 1'000'000'000 / TicksPerSecond(precision);
  const int64_t per_day = TicksPerSecond(precision) * kSecondsPerDay;
  TimeZone& zone = call.evaluator.zone();
  const ColumnView<int64_t> values(*column);
  ForEachRow(call.rows, [&](int32_t row) {
    // Flink counts from 1970 toward zero: times of day before it are negative.
    const int64_t ticks = instant ? InstantToLocal(values[row], precision, zone) : values[row];
    out.Set(row, ExtractField(unit, ticks / per_day, ticks % per_day * nanos_per_tick));
  });
  return out.Finish(call.expr.type);
}

ColumnPtr ExtractKernel(KernelCall& call) { return ExtractUnit(call, UnitOf(call, 0), call.args[1]); }

template <Unit kUnit>
Result<Signature> ResolveField(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 1));
  RETURN_IF_ERROR(CheckExtract(kUnit, args[0], 0));
  const Type type = args[0].id() == TypeId::kNull ? Type::Timestamp(3) : args[0];
  return Signature{Type(TypeId::kBigInt, type.nullable()), {type}};
}

template <Unit kUnit>
ColumnPtr FieldKernel(KernelCall& call) {
  return ExtractUnit(call, kUnit, call.args[0]);
}

// --- TIMESTAMPADD and TIMESTAMPDIFF
// --------------------------------------------------------------------------

// Months in a unit, or 0; milliseconds in a unit, or 0.
int64_t MonthsOf(Unit unit) {
  return unit == Unit::kYear ? 12 : unit == Unit::kQuarter ? 3 : unit == Unit::kMonth ? 1 : 0;
}
int64_t MillisOf(Unit unit) {
  switch (unit) {
    case Unit::kWeek:
      return 7 * kMillisPerDay;
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

Result<Unit> ArithmeticUnit(std::span<const Value* const> literals) {
  ASSIGN_OR_RETURN(const Unit unit, LiteralUnit(literals, 0));
  if (MonthsOf(unit) == 0 && MillisOf(unit) == 0) {
    return Status::User("times are not counted in this unit")
        .Hint("use YEAR, QUARTER, MONTH, WEEK, DAY … SECOND");
  }
  return unit;
}

Result<Signature> ResolveAdd(std::span<const Type> args, std::span<const Value* const> literals) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 3, 3));
  ASSIGN_OR_RETURN(const Unit unit, ArithmeticUnit(literals));
  if (!args[1].is_integer() && args[1].id() != TypeId::kNull) return WrongArgument(1, args[1], "an integer");
  if (!IsDateOrTimestamp(args[2])) return WrongArgument(2, args[2], "a DATE or TIMESTAMP");
  const Type count = Type(TypeId::kBigInt, args[1].nullable());
  Type time = args[2];
  const bool shorter_than_day = MonthsOf(unit) == 0 && MillisOf(unit) < kMillisPerDay;
  if (time.id() == TypeId::kDate && shorter_than_day) {
    time = Type::Timestamp(6).WithNullable(time.nullable());
  }
  return Signature{time.WithNullable(args[1].nullable() || args[2].nullable()), {args[0], count, time}};
}

ColumnPtr AddKernel(KernelCall& call) {
  const Unit unit = UnitOf(call, 0);
  const Type& type = call.args[2]->type();
  const int64_t months = MonthsOf(unit);
  const ColumnView<int64_t> counts(*call.args[1]);
  if (type.id() == TypeId::kDate) {
    Output<int32_t> out(call.physical_rows);
    const ColumnView<int32_t> days(*call.args[2]);
    ForEachRow(call.rows, [&](int32_t row) {
      const int64_t moved =
          months > 0 ? AddMonths(days[row], WrappingMultiply(counts[row], months))
                     : WrappingAdd(days[row], WrappingMultiply(counts[row], MillisOf(unit) / kMillisPerDay));
      out.Set(row, static_cast<int32_t>(moved));
    });
    return out.Finish(call.expr.type);
  }
  Output<int64_t> out(call.physical_rows);
  const ColumnView<int64_t> values(*call.args[2]);
  const int64_t per_second = type.ticks_per_second();
  const int64_t per_day = per_second * kSecondsPerDay;
  ForEachRow(call.rows, [&](int32_t row) {
    if (months == 0) {
      const int64_t step = MillisOf(unit) * (per_second / 1000);
      return out.Set(row, WrappingAdd(values[row], WrappingMultiply(counts[row], step)));
    }
    const int64_t days = FloorDivide(values[row], per_day);
    const int64_t moved = AddMonths(days, WrappingMultiply(counts[row], months));
    out.Set(row, WrappingAdd(WrappingMultiply(moved, per_day), values[row] - days * per_day));
  });
  return out.Finish(call.expr.type);
}

Result<Signature> ResolveDifference(std::span<const Type> args, std::span<const Value* const> literals) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 3, 3));
  RETURN_IF_ERROR(ArithmeticUnit(literals).status());
  Signature signature{Type(TypeId::kInt, args[1].nullable() || args[2].nullable()), {args[0]}};
  for (size_t i = 1; i < 3; ++i) {
    if (!IsDateOrTimestamp(args[i]) && args[i].id() != TypeId::kNull) {
      return WrongArgument(i, args[i], "a DATE or TIMESTAMP");
    }
    // All in one form: milliseconds are what Flink counts by.
    const TypeId id = args[i].id() == TypeId::kTimestampLtz ? TypeId::kTimestampLtz : TypeId::kTimestamp;
    const Type common = id == TypeId::kTimestamp ? Type::Timestamp(3) : Type::TimestampLtz(3);
    signature.args.push_back(common.WithNullable(args[i].nullable()));
  }
  return signature;
}

// Complete months from `from` to `to`, in milliseconds; Calcite's subtractMonths.
int64_t MonthsBetween(int64_t from, int64_t to) {
  if (to < from) return -MonthsBetween(to, from);
  const int64_t from_day = FloorDivide(from, kMillisPerDay);
  const int64_t to_day = FloorDivide(to, kMillisPerDay);
  int64_t months = (to_day - from_day) / 31;
  while (AddMonths(from_day, months) < to_day && AddMonths(from_day, months + 1) <= to_day) ++months;
  const bool same_day = AddMonths(from_day, months) == to_day;
  if (same_day && FloorModulo(to, kMillisPerDay) < FloorModulo(from, kMillisPerDay)) --months;
  return months;
}

ColumnPtr DifferenceKernel(KernelCall& call) {
  const Unit unit = UnitOf(call, 0);
  const int64_t months = MonthsOf(unit);
  const int64_t millis = MillisOf(unit);
  const ColumnView<int64_t> from(*call.args[1]);
  const ColumnView<int64_t> to(*call.args[2]);
  Output<int32_t> out(call.physical_rows);
  ForEachRow(call.rows, [&](int32_t row) {
    const int64_t a = FloorDivide(from[row], 1000);
    const int64_t b = FloorDivide(to[row], 1000);
    const int64_t count = months > 0 ? MonthsBetween(a, b) / months : (b - a) / millis;
    out.Set(row, static_cast<int32_t>(count));
  });
  return out.Finish(call.expr.type);
}

// --- the clock
// -----------------------------------------------------------------------------------------------

template <TypeId kType>
Result<Signature> ResolveClock(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 0, 0));
  const Type type = kType == TypeId::kTimestampLtz ? Type::TimestampLtz(3)
                    : kType == TypeId::kTimestamp  ? Type::Timestamp(3)
                    : kType == TypeId::kTime       ? Type::Time(0)
                                                   : Type(kType);
  return Signature{type.WithNullable(false), {}};
}

enum class Moment { kQuery, kRow };  // kQuery: in batch one for the whole query

template <TypeId kType, Moment kMoment = Moment::kQuery>
ColumnPtr ClockKernel(KernelCall& call) {
  const EvaluatorOptions& options = call.evaluator.options();
  const int64_t instant =
      kMoment == Moment::kRow ? options.now_millis : options.query_start_millis.value_or(options.now_millis);
  const int64_t local = InstantToLocal(instant * 1000, 3, call.evaluator.zone()) / 1000;
  int64_t value = instant * 1000;
  if (kType == TypeId::kTimestamp) value = local * 1000;
  if (kType == TypeId::kDate) value = FloorDivide(local, kMillisPerDay);
  if (kType == TypeId::kTime) value = FloorModulo(local, kMillisPerDay) / 1000 * 1000;
  return ConstantColumn(call.expr.type, Value(value), call.physical_rows);
}

constexpr std::string_view kFamilyTemporal = "temporal";

const ScalarFunction kTemporal[] = {
    {"EXTRACT", kFamilyTemporal,
     "A field of a time: YEAR … NANOSECOND, EPOCH, DOW, ISODOW, DOY, ISOYEAR, WEEK, …",
     "EXTRACT(WEEK FROM DATE '2021-01-03')", "53", ResolveExtract, ExtractKernel},
    {"YEAR", kFamilyTemporal, "The year.", "YEAR(DATE '2024-02-29')", "2024", ResolveField<Unit::kYear>,
     FieldKernel<Unit::kYear>},
    {"QUARTER", kFamilyTemporal, "The quarter, 1 to 4.", "QUARTER(DATE '2024-12-31')", "4",
     ResolveField<Unit::kQuarter>, FieldKernel<Unit::kQuarter>},
    {"MONTH", kFamilyTemporal, "The month.", "MONTH(DATE '2024-02-29')", "2", ResolveField<Unit::kMonth>,
     FieldKernel<Unit::kMonth>},
    {"WEEK", kFamilyTemporal, "The ISO week.", "WEEK(DATE '2024-02-29')", "9", ResolveField<Unit::kWeek>,
     FieldKernel<Unit::kWeek>},
    {"DAYOFYEAR", kFamilyTemporal, "The day of the year.", "DAYOFYEAR(DATE '2024-02-29')", "60",
     ResolveField<Unit::kDoy>, FieldKernel<Unit::kDoy>},
    {"DAYOFMONTH", kFamilyTemporal, "The day of the month.", "DAYOFMONTH(DATE '2024-02-29')", "29",
     ResolveField<Unit::kDay>, FieldKernel<Unit::kDay>},
    {"DAYOFWEEK", kFamilyTemporal, "The day of the week; Sunday is 1.", "DAYOFWEEK(DATE '2024-02-29')", "5",
     ResolveField<Unit::kDow>, FieldKernel<Unit::kDow>},
    {"HOUR", kFamilyTemporal, "The hour of the day.", "HOUR(TIME '13:14:15')", "13",
     ResolveField<Unit::kHour>, FieldKernel<Unit::kHour>},
    {"MINUTE", kFamilyTemporal, "The minute of the hour.", "MINUTE(TIME '13:14:15')", "14",
     ResolveField<Unit::kMinute>, FieldKernel<Unit::kMinute>},
    {"SECOND", kFamilyTemporal, "The second of the minute.", "SECOND(TIME '13:14:15')", "15",
     ResolveField<Unit::kSecond>, FieldKernel<Unit::kSecond>},
    {"TIMESTAMPADD", kFamilyTemporal,
     "A time moved by so many units; months keep the day, or the month's last.",
     "TIMESTAMPADD(MONTH, 1, DATE '2024-01-31')", "2024-02-29", ResolveAdd, AddKernel},
    {"TIMESTAMPDIFF", kFamilyTemporal, "The complete units from the first time to the second.",
     "TIMESTAMPDIFF(MONTH, DATE '2024-01-31', DATE '2024-02-29')", "1", ResolveDifference, DifferenceKernel},
    {"CURRENT_TIMESTAMP", kFamilyTemporal,
     "The instant at which the row is computed; in batch mode that of the query's start.",
     "EXTRACT(YEAR FROM CURRENT_TIMESTAMP) >= 1969", "TRUE", ResolveClock<TypeId::kTimestampLtz>,
     ClockKernel<TypeId::kTimestampLtz>, false, false},
    {"LOCALTIMESTAMP", kFamilyTemporal, "The session's wall clock.",
     "EXTRACT(YEAR FROM LOCALTIMESTAMP) >= 1969", "TRUE", ResolveClock<TypeId::kTimestamp>,
     ClockKernel<TypeId::kTimestamp>, false, false},
    {"CURRENT_DATE", kFamilyTemporal, "The session's date.", "CURRENT_DATE >= DATE '1969-01-01'", "TRUE",
     ResolveClock<TypeId::kDate>, ClockKernel<TypeId::kDate>, false, false},
    {"CURRENT_TIME", kFamilyTemporal, "The session's time of day.", "CURRENT_TIME >= TIME '00:00:00'", "TRUE",
     ResolveClock<TypeId::kTime>, ClockKernel<TypeId::kTime>, false, false},
    {"CURRENT_ROW_TIMESTAMP", kFamilyTemporal, "The instant at which the row is computed, in any mode.",
     "CURRENT_ROW_TIMESTAMP() IS NOT NULL", "TRUE", ResolveClock<TypeId::kTimestampLtz>,
     ClockKernel<TypeId::kTimestampLtz, Moment::kRow>, false, false},
    {"PROCTIME", kFamilyTemporal, "Processing time.", "PROCTIME() IS NOT NULL", "TRUE",
     ResolveClock<TypeId::kTimestampLtz>, ClockKernel<TypeId::kTimestampLtz, Moment::kRow>, false, false},
};

}  // namespace

std::span<const ScalarFunction> TemporalFunctions() { return kTemporal; }

}  // namespace caudal
