#include "expr/functions/rounding.h"

#include <algorithm>
#include <cmath>

#include "data/text/number_text.h"
#include "expr/functions/time_unit.h"
#include "expr/kernel.h"
#include "expr/physical_dispatch.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

Result<Signature> ResolveWhole(std::span<const Type> args, std::span<const Value* const> literals) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 2));
  if (args.size() == 2) return ResolveRoundToUnit(args, literals);
  if (!IsNumeric(args[0])) return WrongArgument(0, args[0], "a number, or a time and a unit");
  Type type = args[0].id() == TypeId::kNull ? Type(TypeId::kInt) : args[0];
  if (type.id() != TypeId::kDecimal) return Signature{type, {type}};
  return Signature{Type::Decimal(type.precision(), 0).WithNullable(type.nullable()), {type}};
}

enum class Rounding { kUp, kDown, kHalfAway, kTowardZero };

// unscaled ÷ 10^digits to a whole number.
int128_t DropDigitsOf(int128_t unscaled, int digits, Rounding rounding) {
  if (digits <= 0) return unscaled;
  if (digits > kMaxDecimalPrecision) digits = kMaxDecimalPrecision;
  const int128_t unit = PowerOfTen(digits);
  const int128_t whole = unscaled / unit;
  const int128_t rest = unscaled % unit;
  const int128_t size = rest < 0 ? -rest : rest;
  switch (rounding) {
    case Rounding::kUp:
      return whole + (rest > 0 ? 1 : 0);
    case Rounding::kDown:
      return whole - (rest < 0 ? 1 : 0);
    case Rounding::kHalfAway:
      return whole + (size >= unit - size ? (rest < 0 ? -1 : 1) : 0);
    case Rounding::kTowardZero:
      break;
  }
  return whole;
}

template <typename From>
ColumnPtr DecimalToScale(KernelCall& call, int digits, Rounding rounding, int128_t factor) {
  const auto fill = [&]<typename To>() {
    return MapUnary<From, To>(
        call, [=](From value) { return static_cast<To>(DropDigitsOf(value, digits, rounding) * factor); });
  };
  if (call.expr.type.physical() == Physical::kInt64) return fill.template operator()<int64_t>();
  return fill.template operator()<int128_t>();
}

template <Rounding kRounding>
ColumnPtr WholeKernel(KernelCall& call) {
  if (call.args.size() == 2) return RoundToUnitKernel(call, kRounding == Rounding::kUp);
  const Type& type = call.args[0]->type();
  switch (type.physical()) {
    case Physical::kFloat:
      return MapUnary<float, float>(
          call, [](float v) { return kRounding == Rounding::kUp ? std::ceil(v) : std::floor(v); });
    case Physical::kDouble:
      return MapUnary<double, double>(
          call, [](double v) { return kRounding == Rounding::kUp ? std::ceil(v) : std::floor(v); });
    default:
      break;
  }
  if (type.id() != TypeId::kDecimal) return call.args[0];
  if (type.physical() == Physical::kInt64) return DecimalToScale<int64_t>(call, type.scale(), kRounding, 1);
  return DecimalToScale<int128_t>(call, type.scale(), kRounding, 1);
}

// Through the decimal text, as Java's BigDecimal.valueOf: 15.45 has no hidden digits.
bool RoundDouble(double value, int digits, Rounding rounding, double* out) {
  if (digits > 300 || (rounding == Rounding::kTowardZero && !std::isfinite(value))) {
    *out = value;
    return std::isfinite(value) || rounding == Rounding::kTowardZero;
  }
  if (!std::isfinite(value)) return false;
  int128_t unscaled = 0;
  constexpr int kScale = 18;
  if (digits > kScale || !DoubleToDecimal(value, kMaxDecimalPrecision, kScale, &unscaled)) {
    *out = value;  // too many digits to have any behind the point worth rounding
    return true;
  }
  const int drop = kScale - digits;
  if (drop > kMaxDecimalPrecision) {
    *out = 0;
    return true;
  }
  *out = DecimalToDouble(DropDigitsOf(unscaled, drop, rounding) * PowerOfTen(std::min(drop, kScale)), kScale);
  if (drop > kScale) *out *= static_cast<double>(PowerOfTen(drop - kScale));
  return true;
}

// The double is that of the float's own digits.
double WidenByText(float value) {
  char text[kDoubleTextSize];
  double wide = value;
  ParseDouble({text, FormatFloat(value, text)}, &wide);
  return wide;
}

template <typename T>
ColumnPtr RoundFloats(KernelCall& call, Rounding rounding) {
  Output<T> out(call.physical_rows);
  const ColumnView<T> values(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    const int32_t digits = call.args.size() == 2 ? ColumnView<int32_t>(*call.args[1])[row] : 0;
    double rounded = 0;
    const double value = sizeof(T) == 4 ? WidenByText(static_cast<float>(values[row])) : values[row];
    if (RoundDouble(value, digits, rounding, &rounded)) return out.Set(row, static_cast<T>(rounded));
    call.errors.Add(row, "NaN and Infinity cannot be rounded");
    out.SetNull(row);
  });
  return out.Finish(call.expr.type);
}

template <typename T>
ColumnPtr RoundIntegers(KernelCall& call, Rounding rounding) {
  if (call.args.size() == 1) return call.args[0];
  return MapBinary<T, int32_t, T>(call, [rounding](T value, int32_t digits) {
    if (digits >= 0) return value;
    if (digits < -kMaxDecimalPrecision) return T{0};
    return static_cast<T>(DropDigitsOf(value, -digits, rounding) * PowerOfTen(-digits));
  });
}

// Digits by row; the column's scale was fixed at binding when they are a literal.
template <typename From>
ColumnPtr RoundDecimals(KernelCall& call, Rounding rounding) {
  const int scale = call.args[0]->type().scale();
  const int to_scale = call.expr.type.scale();
  int digits = 0;
  if (call.args.size() == 2) digits = ColumnView<int32_t>(*call.args[1])[call.rows[0]];
  digits = std::clamp(digits, -kMaxDecimalPrecision, scale);
  // Cut to `digits`, then written at the result's scale.
  const int128_t factor = PowerOfTen(std::clamp(to_scale - digits, 0, kMaxDecimalPrecision));
  return DecimalToScale<From>(call, scale - digits, rounding, factor);
}

ColumnPtr RoundTo(KernelCall& call, Rounding rounding) {
  const Type& type = call.args[0]->type();
  switch (type.id()) {
    case TypeId::kFloat:
      return RoundFloats<float>(call, rounding);
    case TypeId::kDouble:
      return RoundFloats<double>(call, rounding);
    case TypeId::kDecimal:
      if (type.physical() == Physical::kInt64) return RoundDecimals<int64_t>(call, rounding);
      return RoundDecimals<int128_t>(call, rounding);
    default:
      break;
  }
  return DispatchInteger(type.physical(), [&]<typename T>() { return RoundIntegers<T>(call, rounding); });
}

}  // namespace

Result<Signature> ResolveCeil(std::span<const Type> args, std::span<const Value* const> literals) {
  return ResolveWhole(args, literals);
}
Result<Signature> ResolveFloor(std::span<const Type> args, std::span<const Value* const> literals) {
  return ResolveWhole(args, literals);
}
ColumnPtr CeilKernel(KernelCall& call) { return WholeKernel<Rounding::kUp>(call); }
ColumnPtr FloorKernel(KernelCall& call) { return WholeKernel<Rounding::kDown>(call); }
ColumnPtr RoundKernel(KernelCall& call) { return RoundTo(call, Rounding::kHalfAway); }
ColumnPtr TruncateKernel(KernelCall& call) { return RoundTo(call, Rounding::kTowardZero); }

// A DECIMAL keeps as many fraction digits as it is rounded to, and one whole digit more for the carry.
Result<Signature> ResolveRound(std::span<const Type> args, std::span<const Value* const> literals) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 2));
  for (size_t i = 0; i < args.size(); ++i) {
    if (!IsNumeric(args[i])) return WrongArgument(i, args[i], "a number");
  }
  const Type type = args[0].id() == TypeId::kNull ? Type(TypeId::kInt) : args[0];
  Signature signature{type.WithNullable(AnyNullable(args)), {type}};
  if (args.size() == 2) signature.args.push_back(Type(TypeId::kInt, args[1].nullable()));
  if (type.id() != TypeId::kDecimal) return signature;
  int64_t digits = 0;
  if (args.size() == 2) {
    const int64_t* literal = literals[1] == nullptr ? nullptr : std::get_if<int64_t>(&literals[1]->data);
    if (literal == nullptr && !(literals[1] != nullptr && literals[1]->is_null())) {
      return Status::User("the digits to round a DECIMAL to must be a literal");
    }
    if (literal != nullptr) digits = *literal;
  }
  if (digits >= type.scale()) return signature;
  const int scale = static_cast<int>(std::max<int64_t>(digits, 0));
  const int whole = type.precision() - type.scale() + 1;
  signature.result = Type::Decimal(std::min(whole + scale, kMaxDecimalPrecision), scale)
                         .WithNullable(signature.result.nullable());
  return signature;
}

}  // namespace caudal
