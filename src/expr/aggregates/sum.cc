// COUNT, SUM, AVG.
#include "data/text/number_text.h"
#include "expr/aggregates/accumulator.h"
#include "expr/aggregates/bind.h"
#include "expr/decimal_arithmetic.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

// --- COUNT
// ---------------------------------------------------------------------------------------------------

class Count : public PlainAggregator<int64_t> {
 public:
  // `rows`: COUNT(*), which looks at no argument.
  explicit Count(bool rows) : PlainAggregator(Type(TypeId::kBigInt, false)), rows_(rows) {}

  Type accumulator_type() const override { return Type::Row({{"count", Type(TypeId::kBigInt, false)}}); }
  void Add(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    Move(accumulators, args, rows, 1);
  }
  bool can_retract() const override { return true; }
  void Retract(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    Move(accumulators, args, rows, -1);
  }
  void Merge(char* into, const char* from) const override { state(into) += state(from); }
  void Result(const char* const* accumulators, int32_t count, ColumnBuilder* out) const override {
    for (int32_t i = 0; i < count; ++i) out->Append(state(accumulators[i]));
  }

 private:
  // A row counts when no argument is NULL.
  void Move(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows, int64_t by) const {
    if (rows_) args = {};
    bool nullable = false;
    for (const ColumnPtr& arg : args) nullable |= arg->may_have_nulls();
    for (int32_t i = 0; i < rows.count; ++i) {
      if (nullable && AnyNull(args, rows[i])) continue;
      state(accumulators[i]) += by;
    }
  }
  static bool AnyNull(std::span<const ColumnPtr> args, int32_t row) {
    for (const ColumnPtr& arg : args) {
      if (arg->IsNull(row)) return true;
    }
    return false;
  }

  bool rows_;
};

// --- SUM and AVG
// ---------------------------------------------------------------------------------------------

// Sums of whole numbers wrap at 64 bits; the result type cuts further, as wrapping in it would have.
struct WholeSum {
  int64_t sum;
  int64_t count;
  void Move(int64_t value, int64_t direction) {
    sum = static_cast<int64_t>(static_cast<uint64_t>(sum) +
                               static_cast<uint64_t>(value) * static_cast<uint64_t>(direction));
    count += direction;
  }
  void Merge(const WholeSum& other) {
    Move(other.sum, 1);
    count += other.count - 1;
  }
};
struct FloatSum {
  float sum;
  int64_t count;
  void Move(float value, int64_t direction) {
    sum += direction > 0 ? value : -value;
    count += direction;
  }
  void Merge(const FloatSum& other) {
    sum += other.sum;
    count += other.count;
  }
};
struct DoubleSum {
  double sum;
  int64_t count;
  void Move(double value, int64_t direction) {
    sum += direction > 0 ? value : -value;
    count += direction;
  }
  void Merge(const DoubleSum& other) {
    sum += other.sum;
    count += other.count;
  }
};

// Once past 128 bits a sum stays lost: its result is NULL.
constexpr int128_t kLostSum = static_cast<int128_t>(static_cast<uint128_t>(1) << 127);

struct DecimalSumState {
  Int128At8 sum;
  int64_t count;
  void Move(int128_t value, int64_t direction) {
    count += direction;
    Shift(direction > 0 ? value : -value);
  }
  void Merge(const DecimalSumState& other) {
    count += other.count;
    if (other.sum == kLostSum) {
      sum = kLostSum;
    } else {
      Shift(other.sum);
    }
  }
  void Shift(int128_t by) {
    int128_t moved = 0;
    const bool lost = sum == kLostSum || __builtin_add_overflow(static_cast<int128_t>(sum), by, &moved);
    sum = lost ? kLostSum : moved;
  }
};

void AppendWhole(const Type& type, int64_t value, ColumnBuilder* out) {
  switch (type.physical()) {
    case Physical::kInt8:
      return out->Append(static_cast<int8_t>(value));
    case Physical::kInt16:
      return out->Append(static_cast<int16_t>(value));
    case Physical::kInt32:
      return out->Append(static_cast<int32_t>(value));
    default:
      return out->Append(value);
  }
}

void AppendSum(const WholeSum& state, const Type&, const Type& result, ColumnBuilder* out) {
  AppendWhole(result, state.sum, out);
}
void AppendSum(const FloatSum& state, const Type&, const Type&, ColumnBuilder* out) {
  out->Append(state.sum);
}
void AppendSum(const DoubleSum& state, const Type&, const Type&, ColumnBuilder* out) {
  out->Append(state.sum);
}
void AppendSum(const DecimalSumState& state, const Type&, const Type&, ColumnBuilder* out) {
  const int128_t limit = PowerOfTen(kMaxDecimalPrecision);
  if (state.sum >= limit || state.sum <= -limit) return out->AppendNull();
  out->Append(static_cast<int128_t>(state.sum));
}

void AppendAverage(const WholeSum& state, const Type&, const Type& result, ColumnBuilder* out) {
  AppendWhole(result, state.sum / state.count, out);
}
void AppendAverage(const FloatSum& state, const Type&, const Type&, ColumnBuilder* out) {
  out->Append(state.sum / static_cast<float>(state.count));
}
void AppendAverage(const DoubleSum& state, const Type&, const Type& result, ColumnBuilder* out) {
  const double average = state.sum / static_cast<double>(state.count);
  if (result.id() == TypeId::kFloat) return out->Append(static_cast<float>(average));
  out->Append(average);
}
void AppendAverage(const DecimalSumState& state, const Type& arg, const Type& result, ColumnBuilder* out) {
  int128_t average = 0;
  if (state.sum == kLostSum ||
      !DivideDecimals(state.sum, state.count, result.scale() - arg.scale(), result.precision(), &average)) {
    return out->AppendNull();
  }
  out->Append(average);
}

template <typename T, typename State, bool kAverage>
class Sum : public PlainAggregator<State> {
 public:
  Sum(Type arg, Type result) : PlainAggregator<State>(std::move(result)), arg_(std::move(arg)) {}

  Type accumulator_type() const override {
    const Type sum = arg_.is_integer()                 ? Type(TypeId::kBigInt)
                     : arg_.id() == TypeId::kDecimal   ? Type::Decimal(kMaxDecimalPrecision, arg_.scale())
                     : std::is_same_v<State, FloatSum> ? Type(TypeId::kFloat)
                                                       : Type(TypeId::kDouble);
    return Type::Row({{"sum", sum}, {"count", Type(TypeId::kBigInt, false)}});
  }
  void Add(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    ForEachValue<T>(accumulators, *args[0], rows,
                    [this](char* accumulator, const T& value) { this->state(accumulator).Move(value, 1); });
  }
  bool can_retract() const override { return true; }
  void Retract(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    ForEachValue<T>(accumulators, *args[0], rows,
                    [this](char* accumulator, const T& value) { this->state(accumulator).Move(value, -1); });
  }
  void Merge(char* into, const char* from) const override { this->state(into).Merge(this->state(from)); }
  void Result(const char* const* accumulators, int32_t count, ColumnBuilder* out) const override {
    for (int32_t i = 0; i < count; ++i) {
      const State& state = this->state(accumulators[i]);
      if (state.count == 0) {
        out->AppendNull();
      } else if (kAverage) {
        AppendAverage(state, arg_, this->result_, out);
      } else {
        AppendSum(state, arg_, this->result_, out);
      }
    }
  }

 private:
  Type arg_;
};

template <bool kAverage>
std::unique_ptr<Aggregator> MakeSum(const Type& arg, const Type& result) {
  switch (arg.id()) {
    case TypeId::kTinyInt:
      return std::make_unique<Sum<int8_t, WholeSum, kAverage>>(arg, result);
    case TypeId::kSmallInt:
      return std::make_unique<Sum<int16_t, WholeSum, kAverage>>(arg, result);
    case TypeId::kInt:
      return std::make_unique<Sum<int32_t, WholeSum, kAverage>>(arg, result);
    case TypeId::kBigInt:
      return std::make_unique<Sum<int64_t, WholeSum, kAverage>>(arg, result);
    case TypeId::kFloat:
      if (kAverage) return std::make_unique<Sum<float, DoubleSum, kAverage>>(arg, result);
      return std::make_unique<Sum<float, FloatSum, kAverage>>(arg, result);
    case TypeId::kDouble:
      return std::make_unique<Sum<double, DoubleSum, kAverage>>(arg, result);
    default:
      break;
  }
  if (arg.physical() == Physical::kInt64) {
    return std::make_unique<Sum<int64_t, DecimalSumState, kAverage>>(arg, result);
  }
  return std::make_unique<Sum<int128_t, DecimalSumState, kAverage>>(arg, result);
}

template <bool kAverage>
BoundAggregate BindNumbers(AggregateArgs args, bool distinct) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 1));
  if (!args[0].is_numeric()) return WrongArgument(0, args[0], "a number");
  Type result = kAverage                           ? AverageType(args[0])
                : args[0].id() == TypeId::kDecimal ? Type::Decimal(kMaxDecimalPrecision, args[0].scale())
                                                   : args[0];
  auto sum = MakeSum<kAverage>(args[0], result.WithNullable(true));
  if (distinct) return MakeDistinct(std::move(sum), args[0]);
  return sum;
}

}  // namespace

Type AverageType(const Type& arg) {
  if (arg.id() != TypeId::kDecimal) return arg.WithNullable(true);
  return Type::Decimal(kMaxDecimalPrecision, arg.scale() < 6 ? 6 : arg.scale());
}

BoundAggregate BindCount(AggregateArgs args, bool distinct, bool) {
  if (!distinct) return std::unique_ptr<Aggregator>(std::make_unique<Count>(args.empty()));
  if (args.size() != 1) return Status::User("COUNT(DISTINCT …) of other than one argument is not built");
  return MakeDistinct(std::make_unique<Count>(false), args[0]);
}
BoundAggregate BindSum(AggregateArgs args, bool distinct, bool) { return BindNumbers<false>(args, distinct); }
BoundAggregate BindAverage(AggregateArgs args, bool distinct, bool) {
  return BindNumbers<true>(args, distinct);
}

}  // namespace caudal
