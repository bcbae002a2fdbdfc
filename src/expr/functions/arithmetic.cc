// Arithmetic signs: + - * / % over numbers (integers wrap, decimals that overflow are NULL), times,
// intervals.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "data/text/number_text.h"
#include "expr/decimal_arithmetic.h"
#include "expr/functions/families.h"
#include "expr/functions/interval_arithmetic.h"
#include "expr/kernel.h"
#include "expr/physical_dispatch.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

constexpr const char* kDivisionByZero = "division by zero";

Type DecimalResult(char sign, const Type& left, const Type& right) {
  switch (sign) {
    case '*':
      return DecimalProduct(left, right);
    case '/':
      return DecimalQuotient(left, right);
    case '%':
      return DecimalRemainder(left, right);
    default:
      return DecimalSum(left, right);
  }
}

bool IsApproximateNumber(const Type& type) {
  return type.id() == TypeId::kFloat || type.id() == TypeId::kDouble;
}

// A bare NULL takes the other side's type.
Result<Signature> ResolveNumbers(char sign, std::span<const Type> args) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, 2));
  for (size_t i = 0; i < 2; ++i) {
    if (!IsNumeric(args[i])) {
      return WrongArgument(i, args[i], "a number").Hint("write a CAST around it");
    }
  }
  ASSIGN_OR_RETURN(Type common, CommonType(args));
  if (common.id() == TypeId::kNull) common = Type(TypeId::kInt);
  const Type left = args[0].id() == TypeId::kNull ? common : args[0];
  const Type right = args[1].id() == TypeId::kNull ? common : args[1];
  const bool nullable = AnyNullable(args);
  if (common.id() == TypeId::kDecimal) {
    const Type a = AsDecimal(left);
    const Type b = AsDecimal(right);
    return Signature{DecimalResult(sign, a, b).WithNullable(nullable),
                     {a.WithNullable(args[0].nullable()), b.WithNullable(args[1].nullable())}};
  }
  if (sign == '%' && IsApproximateNumber(common)) {
    return Status::User("the remainder of FLOAT and DOUBLE is not defined").Hint("CAST to a DECIMAL first");
  }
  // Flink's remainder has the type of its right side.
  const Type result = sign == '%' ? right : common;
  return Signature{result.WithNullable(nullable),
                   {common.WithNullable(args[0].nullable()), common.WithNullable(args[1].nullable())}};
}

template <char kSign>
Result<Signature> ResolveSign(std::span<const Type> args, std::span<const Value* const>) {
  if (kSign == '-' && args.size() == 1) {
    if (!IsNumeric(args[0]) && !IsInterval(args[0])) return WrongArgument(0, args[0], "a number");
    const Type type = args[0].id() == TypeId::kNull ? Type(TypeId::kInt) : args[0];
    return Signature{type, {type}};
  }
  if (auto interval = ResolveIntervals(kSign, args)) return *std::move(interval);
  return ResolveNumbers(kSign, args);
}

// --- whole and floating numbers
// ------------------------------------------------------------------------------

template <typename T>
using Wrapping = std::make_unsigned_t<T>;

template <char kSign, typename T>
T Compute(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return kSign == '+' ? a + b : kSign == '-' ? a - b : kSign == '*' ? a * b : a / b;
  } else {
    using U = std::conditional_t<sizeof(T) < 4, uint32_t, Wrapping<T>>;
    const U x = static_cast<U>(a);
    const U y = static_cast<U>(b);
    return static_cast<T>(kSign == '+' ? x + y : kSign == '-' ? x - y : x * y);
  }
}

template <char kSign, typename T>
ColumnPtr WholeDivision(KernelCall& call) {
  Output<T> out(call.physical_rows);
  kernel::LoopBinary<T, T>(*call.args[0], *call.args[1], call.rows, [&](int32_t row, T a, T b) {
    if (b == 0) {
      call.errors.Add(row, kDivisionByZero);
      return out.SetNull(row);
    }
    if (b == -1) return out.Set(row, kSign == '/' ? Compute<'-', T>(0, a) : T{0});  // the lowest value wraps
    out.Set(row, static_cast<T>(kSign == '/' ? a / b : a % b));
  });
  return out.Finish(call.args[0]->type());
}

template <typename From>
ColumnPtr NarrowRemainder(KernelCall& call, const ColumnPtr& wide) {
  const From* from = wide->values<From>();
  return DispatchInteger(call.expr.type.physical(), [&]<typename To>() {
    MutableBufferPtr values = Buffer::Allocate(static_cast<size_t>(call.physical_rows) * sizeof(To));
    To* to = values->mutable_as<To>();
    ForEachRow(call.rows, [&](int32_t row) { to[row] = static_cast<To>(from[row]); });
    return Column::Flat(call.expr.type, call.physical_rows, std::move(values), wide->validity_buffer());
  });
}

template <char kSign, typename T>
ColumnPtr NumberKernel(KernelCall& call) {
  if constexpr ((kSign == '/' || kSign == '%') && !std::is_floating_point_v<T>) {
    const ColumnPtr result = WholeDivision<kSign, T>(call);
    if (result->type().id() == call.expr.type.id()) return result->WithType(call.expr.type);
    return NarrowRemainder<T>(call, result);
  } else {
    return MapBinary<T, T, T>(call, Compute<kSign, T>);
  }
}

// --- decimals
// --------------------------------------------------------------------------------------------------

// Everything but the values, worked out once a chunk.
struct DecimalPlan {
  int left_scale, right_scale, scale, precision;
  int common_scale() const { return left_scale > right_scale ? left_scale : right_scale; }
};

// + - %: both sides at the common scale, then the result's. False: overflow.
template <char kSign>
bool AddDecimals(const DecimalPlan& plan, int128_t a, int128_t b, int128_t* out) {
  int scale = plan.common_scale();
  int128_t x = 0;
  int128_t y = 0;
  if (__builtin_mul_overflow(a, PowerOfTen(scale - plan.left_scale), &x) ||
      __builtin_mul_overflow(b, PowerOfTen(scale - plan.right_scale), &y)) {
    // Beyond 128 bits at the common scale: meet at the result's.
    scale = plan.scale;
    if (!RescaleDecimal(a, plan.left_scale, scale, kMaxDecimalPrecision, &x) ||
        !RescaleDecimal(b, plan.right_scale, scale, kMaxDecimalPrecision, &y)) {
      return false;
    }
  }
  int128_t sum = 0;
  if (kSign == '%') {
    if (y == 0) return false;
    sum = x % y;
  } else if (kSign == '+' ? __builtin_add_overflow(x, y, &sum) : __builtin_sub_overflow(x, y, &sum)) {
    return false;
  }
  return RescaleDecimal(sum, scale, plan.scale, plan.precision, out);
}

template <char kSign>
bool ComputeDecimals(const DecimalPlan& plan, int128_t a, int128_t b, int128_t* out) {
  if constexpr (kSign == '*') {
    return MultiplyDecimals(a, b, plan.left_scale + plan.right_scale - plan.scale, plan.precision, out);
  } else if constexpr (kSign == '/') {
    return DivideDecimals(a, b, plan.scale - plan.left_scale + plan.right_scale, plan.precision, out);
  } else {
    return AddDecimals<kSign>(plan, a, b, out);
  }
}

template <char kSign, typename A, typename B, typename R>
ColumnPtr DecimalLoop(KernelCall& call, const DecimalPlan& plan) {
  // Two decimals of up to 18 digits cannot overflow the result's integer when its scale was not cut.
  if constexpr (sizeof(A) + sizeof(B) == 16 && (kSign == '+' || kSign == '-')) {
    if (plan.scale == plan.common_scale()) {
      const R x = static_cast<R>(PowerOfTen(plan.scale - plan.left_scale));
      const R y = static_cast<R>(PowerOfTen(plan.scale - plan.right_scale));
      return MapBinary<A, B, R>(
          call, [x, y](R a, R b) -> R { return kSign == '+' ? a * x + b * y : a * x - b * y; });
    }
  }
  if constexpr (sizeof(A) + sizeof(B) == 16 && kSign == '*') {
    if (plan.scale == plan.left_scale + plan.right_scale) {
      return MapBinary<A, B, R>(call, [](R a, R b) -> R { return a * b; });
    }
  }
  Output<R> out(call.physical_rows);
  kernel::LoopBinary<A, B>(*call.args[0], *call.args[1], call.rows, [&](int32_t row, A a, B b) {
    int128_t wide = 0;
    if ((kSign == '/' || kSign == '%') && b == 0) {
      call.errors.Add(row, kDivisionByZero);
      out.SetNull(row);
    } else if (ComputeDecimals<kSign>(plan, a, b, &wide)) {
      out.Set(row, static_cast<R>(wide));
    } else {
      out.SetNull(row);
    }
  });
  return out.Finish(call.expr.type);
}

template <char kSign, typename A, typename B>
ColumnPtr DecimalDispatch(KernelCall& call) {
  const DecimalPlan plan{call.args[0]->type().scale(), call.args[1]->type().scale(), call.expr.type.scale(),
                         call.expr.type.precision()};
  if (call.expr.type.physical() == Physical::kInt64) return DecimalLoop<kSign, A, B, int64_t>(call, plan);
  return DecimalLoop<kSign, A, B, int128_t>(call, plan);
}

template <char kSign>
ColumnPtr DecimalKernel(KernelCall& call) {
  const bool wide_left = call.args[0]->type().physical() == Physical::kInt128;
  const bool wide_right = call.args[1]->type().physical() == Physical::kInt128;
  if (wide_left && wide_right) return DecimalDispatch<kSign, int128_t, int128_t>(call);
  if (wide_left) return DecimalDispatch<kSign, int128_t, int64_t>(call);
  if (wide_right) return DecimalDispatch<kSign, int64_t, int128_t>(call);
  return DecimalDispatch<kSign, int64_t, int64_t>(call);
}

ColumnPtr Negate(KernelCall& call) {
  return DispatchFixed(call.expr.type.physical(), [&]<typename T>() {
    return MapUnary<T, T>(call, [](T value) -> T {
      if constexpr (std::is_same_v<T, int128_t>) return -value;
      if constexpr (std::is_floating_point_v<T>) return -value;
      if constexpr (std::is_integral_v<T>) return Compute<'-', T>(0, value);
      return value;
    });
  });
}

template <char kSign>
ColumnPtr SignKernel(KernelCall& call) {
  if (call.args.size() == 1) return Negate(call);
  const Type& left = call.args[0]->type();
  if (IsInterval(left) || IsInterval(call.args[1]->type())) return IntervalKernel(kSign, call);
  switch (left.physical()) {
    case Physical::kInt8:
      return NumberKernel<kSign, int8_t>(call);
    case Physical::kInt16:
      return NumberKernel<kSign, int16_t>(call);
    case Physical::kInt32:
      return NumberKernel<kSign, int32_t>(call);
    case Physical::kFloat:
      return NumberKernel<kSign, float>(call);
    case Physical::kDouble:
      return NumberKernel<kSign, double>(call);
    default:
      break;
  }
  return left.id() == TypeId::kBigInt ? NumberKernel<kSign, int64_t>(call) : DecimalKernel<kSign>(call);
}

constexpr std::string_view kFamilyArithmetic = "arithmetic";

const ScalarFunction kArithmetic[] = {
    {"+", kFamilyArithmetic, "Sum; integers wrap, a decimal beyond 38 digits is NULL; time plus interval.",
     "1.5 + 1", "2.5", ResolveSign<'+'>, SignKernel<'+'>},
    {"-", kFamilyArithmetic, "Difference, or with one argument the negative; time minus interval.",
     "DATE '2024-03-31' - INTERVAL '1' MONTH", "2024-02-29", ResolveSign<'-'>, SignKernel<'-'>},
    {"*", kFamilyArithmetic, "Product.", "1.5 * 2", "3.0", ResolveSign<'*'>, SignKernel<'*'>},
    {"/", kFamilyArithmetic, "Quotient; of integers cut toward zero; division by zero fails but for doubles.",
     "7 / 2", "3", ResolveSign<'/'>, SignKernel<'/'>},
    {"%", kFamilyArithmetic, "Remainder, with the sign of the left side; also MOD(a, b).", "-7 % 3", "-1",
     ResolveSign<'%'>, SignKernel<'%'>},
};

}  // namespace

std::span<const ScalarFunction> ArithmeticFunctions() { return kArithmetic; }

}  // namespace caudal
