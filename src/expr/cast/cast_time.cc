// Casts between DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ.
#include "data/text/time_text.h"
#include "expr/cast/cast.h"

namespace caudal {
namespace {

// Of a timestamp, to DATE. Flink cuts toward zero for TIMESTAMP: before 1970 any time of day counts as the
// day after; TIMESTAMP_LTZ is rounded down.
ColumnPtr ToDate(KernelCall& call, bool instant) {
  const int precision = call.args[0]->type().precision();
  const int64_t per_day = TicksPerSecond(precision) * kSecondsPerDay;
  TimeZone& zone = call.evaluator.zone();
  return MapUnary<int64_t, int32_t>(call, [=, &zone](int64_t ticks) {
    if (instant) return static_cast<int32_t>(FloorDivide(InstantToLocal(ticks, precision, zone), per_day));
    const int64_t millis = FloorDivide(ticks, TicksPerSecond(precision) / 1000);
    return static_cast<int32_t>(millis / kMillisPerDay);
  });
}

ColumnPtr ToTime(KernelCall& call, bool instant) {
  const int precision = call.args[0]->type().precision();
  const int to_precision = call.expr.type.precision();
  const int64_t per_milli = TicksPerSecond(precision) / 1000;
  int64_t unit = 1;
  for (int digits = to_precision; digits < 3; ++digits) unit *= 10;
  TimeZone& zone = call.evaluator.zone();
  return MapUnary<int64_t, int32_t>(call, [=, &zone](int64_t ticks) {
    if (instant) ticks = InstantToLocal(ticks, precision, zone);
    // Cut toward zero, as Flink: before 1970 the fraction of a second is rounded up.
    const int64_t millis = FloorDivide(ticks, per_milli) % kMillisPerDay / unit * unit;
    return static_cast<int32_t>(FloorModulo(millis, kMillisPerDay));
  });
}

// `ticks(row) -> bool` gives the timestamp of a row; false: beyond what 64 bits of nanoseconds hold.
template <typename From, typename F>
ColumnPtr ToTimestamp(KernelCall& call, F ticks) {
  Output<int64_t> out(call.physical_rows);
  const ColumnView<From> values(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    if (ticks(values[row], &out.values()[row])) return;
    call.errors.Add(row, "the time is outside the years 1677 to 2262 that " +
                             call.expr.type.WithNullable(true).ToString() + " holds");
    out.SetNull(row);
  });
  return out.Finish(call.expr.type);
}

}  // namespace

bool ConvertTicks(int64_t ticks, int from_precision, int to_precision, int64_t* out) {
  const bool fine_from = from_precision > 6;
  const bool fine_to = to_precision > 6;
  if (!fine_from && fine_to && __builtin_mul_overflow(ticks, int64_t{1000}, &ticks)) return false;
  if (fine_from && !fine_to) ticks = FloorDivide(ticks, 1000);
  *out = to_precision < from_precision ? TruncateTicks(ticks, to_precision) : ticks;
  return true;
}

int64_t LocalToInstant(int64_t ticks, int precision, TimeZone& zone) {
  if (zone.is_utc()) return ticks;
  const int64_t per_second = TicksPerSecond(precision);
  const int64_t seconds = FloorDivide(ticks, per_second);
  return ticks + (zone.ToUtcSeconds(seconds) - seconds) * per_second;
}

int64_t InstantToLocal(int64_t ticks, int precision, TimeZone& zone) {
  if (zone.is_utc()) return ticks;
  const int64_t per_second = TicksPerSecond(precision);
  return ticks + zone.OffsetAt(FloorDivide(ticks, per_second)) * per_second;
}

ColumnPtr CastTime(KernelCall& call) {
  const Type& from = call.args[0]->type();
  const Type& to = call.expr.type;
  TimeZone& zone = call.evaluator.zone();
  const int precision = to.precision();
  const bool from_instant = from.id() == TypeId::kTimestampLtz;
  const bool to_instant = to.id() == TypeId::kTimestampLtz;
  if (to.id() == TypeId::kDate) return ToDate(call, from_instant);
  if (to.id() == TypeId::kTime && from.id() == TypeId::kTime) {
    int32_t unit = 1;
    for (int digits = precision; digits < 3; ++digits) unit *= 10;
    return MapUnary<int32_t, int32_t>(call, [unit](int32_t millis) { return millis / unit * unit; });
  }
  if (to.id() == TypeId::kTime) return ToTime(call, from_instant);
  if (from.id() == TypeId::kDate) {
    const int64_t per_day = TicksPerSecond(precision) * kSecondsPerDay;
    return ToTimestamp<int32_t>(call, [=, &zone](int32_t days, int64_t* out) {
      if (__builtin_mul_overflow(int64_t{days}, per_day, out)) return false;
      if (to_instant) *out = LocalToInstant(*out, precision, zone);
      return true;
    });
  }
  const int from_precision = from.precision();
  const bool same_ticks = (from_precision <= 6) == (precision <= 6) && precision >= from_precision;
  if (same_ticks && from_instant == to_instant) return call.args[0]->WithType(to);
  return ToTimestamp<int64_t>(call, [=, &zone](int64_t ticks, int64_t* out) {
    if (!ConvertTicks(ticks, from_precision, precision, out)) return false;
    if (from_instant && !to_instant) *out = InstantToLocal(*out, precision, zone);
    if (!from_instant && to_instant) *out = LocalToInstant(*out, precision, zone);
    return true;
  });
}

}  // namespace caudal
