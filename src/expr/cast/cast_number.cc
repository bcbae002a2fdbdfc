// Casts between numbers, and of BOOLEAN: Java's narrowing for integers and doubles, NULL for a decimal that
// does not fit.
#include <cmath>

#include "data/text/number_text.h"
#include "expr/cast/cast.h"
#include "expr/integer_of_double.h"
#include "expr/physical_dispatch.h"

namespace caudal {
namespace {

template <typename From, typename To>
To ConvertNumber(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return IntegerOfDouble<To>(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

// The value of a DECIMAL without its fraction, as a whole number of any width: it wraps as in Java.
template <typename From>
ColumnPtr DecimalToInteger(KernelCall& call, int scale) {
  const int128_t divisor = PowerOfTen(scale);
  return DispatchInteger(call.expr.type.physical(), [&]<typename To>() {
    return MapUnary<From, To>(call, [divisor](From value) {
      return static_cast<To>(static_cast<int64_t>(static_cast<int128_t>(value) / divisor));
    });
  });
}

template <typename From>
ColumnPtr FromDecimal(KernelCall& call) {
  const int scale = call.args[0]->type().scale();
  switch (call.expr.type.id()) {
    case TypeId::kBoolean:
      return MapUnary<From, uint8_t>(call, [](From value) { return static_cast<uint8_t>(value != 0); });
    case TypeId::kFloat:
      return MapUnary<From, float>(
          call, [scale](From value) { return static_cast<float>(DecimalToDouble(value, scale)); });
    case TypeId::kDouble:
      return MapUnary<From, double>(call, [scale](From value) { return DecimalToDouble(value, scale); });
    default:
      return DecimalToInteger<From>(call, scale);
  }
}

// `unscaled(row value) -> bool` fills an int128 of the target's scale.
template <typename From, typename F>
ColumnPtr ToDecimal(KernelCall& call, F unscaled) {
  const auto fill = [&]<typename To>() {
    Output<To> out(call.physical_rows);
    const ColumnView<From> values(*call.args[0]);
    ForEachRow(call.rows, [&](int32_t row) {
      int128_t wide = 0;
      if (unscaled(row, values[row], &wide)) {
        out.Set(row, static_cast<To>(wide));
      } else {
        out.SetNull(row);
      }
    });
    return out.Finish(call.expr.type);
  };
  if (call.expr.type.physical() == Physical::kInt64) return fill.template operator()<int64_t>();
  return fill.template operator()<int128_t>();
}

template <typename From>
ColumnPtr NumberToDecimal(KernelCall& call) {
  const Type& from = call.args[0]->type();
  const int precision = call.expr.type.precision();
  const int scale = call.expr.type.scale();
  if constexpr (std::is_floating_point_v<From>) {
    return ToDecimal<From>(call, [&](int32_t row, From value, int128_t* out) {
      if (!std::isfinite(value)) {
        call.errors.Add(row, std::isnan(value) ? "NaN is not a DECIMAL" : "Infinity is not a DECIMAL");
        return false;
      }
      if (std::is_same_v<From, double>) return DoubleToDecimal(value, precision, scale, out);
      char text[kDoubleTextSize];  // by the float's own shortest text
      return ParseDecimal({text, FormatFloat(static_cast<float>(value), text)}, precision, scale, out);
    });
  } else {
    const int from_scale = from.id() == TypeId::kDecimal ? from.scale() : 0;
    return ToDecimal<From>(call, [&](int32_t, From value, int128_t* out) {
      return RescaleDecimal(value, from_scale, scale, precision, out);
    });
  }
}

// DECIMAL(p, s) to a wider one, within 18 digits: a multiplication at most.
ColumnPtr WidenDecimal(KernelCall& call, int64_t factor) {
  if (factor == 1) return call.args[0]->WithType(call.expr.type);
  return MapUnary<int64_t, int64_t>(call, [factor](int64_t value) { return value * factor; });
}

}  // namespace

ColumnPtr CastNumber(KernelCall& call) {
  const Type& from = call.args[0]->type();
  const Type& to = call.expr.type;
  if (to.id() == TypeId::kDecimal) {
    const bool narrow = from.physical() == Physical::kInt64 && to.physical() == Physical::kInt64;
    if (from.id() == TypeId::kDecimal && narrow && to.scale() >= from.scale() &&
        to.precision() - to.scale() >= from.precision() - from.scale()) {
      return WidenDecimal(call, static_cast<int64_t>(PowerOfTen(to.scale() - from.scale())));
    }
    return DispatchFixed(from.physical(), [&]<typename From>() { return NumberToDecimal<From>(call); });
  }
  if (from.id() == TypeId::kDecimal) {
    return from.physical() == Physical::kInt64 ? FromDecimal<int64_t>(call) : FromDecimal<int128_t>(call);
  }
  return DispatchFixed(from.physical(), [&]<typename From>() {
    if (to.id() == TypeId::kBoolean) {
      return MapUnary<From, uint8_t>(call, [](From value) { return static_cast<uint8_t>(value != 0); });
    }
    return DispatchFixed(to.physical(), [&]<typename To>() {
      return MapUnary<From, To>(call, [](From value) { return ConvertNumber<From, To>(value); });
    });
  });
}

}  // namespace caudal
