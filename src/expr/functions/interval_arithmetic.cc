#include "expr/functions/interval_arithmetic.h"

#include <algorithm>

#include "data/text/time_text.h"
#include "expr/kernel.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

bool IsTimePoint(const Type& type) {
  return type.is_timestamp() || type.id() == TypeId::kDate || type.id() == TypeId::kTime;
}

// time ± months: on the local calendar for DATE and TIMESTAMP, on UTC's for TIMESTAMP_LTZ, as Flink.
int64_t MoveByMonths(const Type& type, int64_t value, int64_t months) {
  if (type.id() == TypeId::kDate) return AddMonths(value, months);
  if (type.id() == TypeId::kTime) return value;
  const int64_t per_day = type.ticks_per_second() * kSecondsPerDay;
  const int64_t days = FloorDivide(value, per_day);
  return WrappingAdd(WrappingMultiply(AddMonths(days, months), per_day), value - days * per_day);
}

// time + milliseconds; a TIME goes round the clock, a DATE counts whole days.
int64_t MoveByMillis(const Type& type, int64_t value, int64_t millis) {
  if (type.id() == TypeId::kDate) return value + millis / kMillisPerDay;
  if (type.id() == TypeId::kTime) return FloorModulo(WrappingAdd(value, millis), kMillisPerDay);
  return WrappingAdd(value, WrappingMultiply(millis, type.ticks_per_second() / 1000));
}

// Reads DATE, TIME, TIMESTAMP and intervals alike.
class TickView {
 public:
  explicit TickView(const Column& column)
      : narrow_(column.type().physical() == Physical::kInt32), small_(column), wide_(column) {}
  int64_t operator[](int32_t row) const { return narrow_ ? small_[row] : wide_[row]; }

 private:
  bool narrow_;
  ColumnView<int32_t> small_;
  ColumnView<int64_t> wide_;
};

template <typename F>
ColumnPtr WriteTicks(KernelCall& call, F f) {
  if (call.expr.type.physical() == Physical::kInt32) {
    Output<int32_t> out(call.physical_rows);
    ForEachRow(call.rows, [&](int32_t row) { out.Set(row, static_cast<int32_t>(f(row))); });
    return out.Finish(call.expr.type);
  }
  Output<int64_t> out(call.physical_rows);
  ForEachRow(call.rows, [&](int32_t row) { out.Set(row, f(row)); });
  return out.Finish(call.expr.type);
}

}  // namespace

int64_t AddMonths(int64_t days, int64_t months) {
  constexpr int64_t kFarthest = 12 * 300'000;  // further than any time reaches
  const CivilDate date = CivilFromDays(days);
  const int64_t month = date.year * 12 + date.month - 1 + std::clamp(months, -kFarthest, kFarthest);
  const int64_t year = FloorDivide(month, 12);
  const int month_of_year = static_cast<int>(month - year * 12) + 1;
  return DaysFromCivil(year, month_of_year, std::min(date.day, DaysInMonth(year, month_of_year)));
}

std::optional<Result<Signature>> ResolveIntervals(char sign, std::span<const Type> args) {
  if (args.size() != 2) return std::nullopt;
  const Type& left = args[0];
  const Type& right = args[1];
  if (!IsInterval(left) && !IsInterval(right)) return std::nullopt;
  const bool additive = sign == '+' || sign == '-';
  if (additive && IsTimePoint(left) && IsInterval(right)) return Strict(left, args);
  if (sign == '+' && IsInterval(left) && IsTimePoint(right)) return Strict(right, args);
  if (additive && left.id() == right.id()) return Strict(left, args);
  if (sign == '*' && IsInterval(left) && right.is_integer()) {
    return Signature{left.WithNullable(AnyNullable(args)), {left, Type(TypeId::kBigInt, right.nullable())}};
  }
  if (sign == '*' && left.is_integer() && IsInterval(right)) {
    return Signature{right.WithNullable(AnyNullable(args)), {Type(TypeId::kBigInt, left.nullable()), right}};
  }
  return Result<Signature>(Status::User(left.WithNullable(true).ToString() + " " + sign + " " +
                                        right.WithNullable(true).ToString() + " is not defined"));
}

ColumnPtr IntervalKernel(char sign, KernelCall& call) {
  const TickView left(*call.args[0]);
  const TickView right(*call.args[1]);
  if (sign == '*')
    return WriteTicks(call, [&](int32_t row) { return WrappingMultiply(left[row], right[row]); });
  const int64_t direction = sign == '-' ? -1 : 1;
  const bool time_left = IsTimePoint(call.args[0]->type());
  const bool time_right = IsTimePoint(call.args[1]->type());
  if (!time_left && !time_right) {
    return WriteTicks(
        call, [&](int32_t row) { return WrappingAdd(left[row], WrappingMultiply(direction, right[row])); });
  }
  const Type& time = call.args[time_left ? 0 : 1]->type();
  const TickView& value = time_left ? left : right;
  const TickView& interval = time_left ? right : left;
  if (call.args[time_left ? 1 : 0]->type().id() == TypeId::kIntervalYearMonth) {
    return WriteTicks(call,
                      [&](int32_t row) { return MoveByMonths(time, value[row], direction * interval[row]); });
  }
  return WriteTicks(call,
                    [&](int32_t row) { return MoveByMillis(time, value[row], direction * interval[row]); });
}

}  // namespace caudal
