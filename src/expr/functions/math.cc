// Mathematical functions.
#include <cmath>
#include <numbers>

#include "data/text/number_text.h"
#include "expr/functions/families.h"
#include "expr/functions/rounding.h"
#include "expr/functions/signature_pattern.h"
#include "expr/kernel.h"
#include "expr/physical_dispatch.h"
#include "expr/string_output.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

template <double (*kFunction)(double)>
ColumnPtr DoubleKernel(KernelCall& call) {
  return MapUnary<double, double>(call, [](double value) { return kFunction(value); });
}
template <double (*kFunction)(double, double)>
ColumnPtr DoublePairKernel(KernelCall& call) {
  return MapBinary<double, double, double>(call, [](double a, double b) { return kFunction(a, b); });
}

// Where Java's pow differs from C's: a power of 1 that is no number, or infinite, is no number.
double PowerOf(double base, double exponent) {
  if (std::isnan(exponent) || (std::isinf(exponent) && std::fabs(base) == 1)) return std::nan("");
  return std::pow(base, exponent);
}
// Flink takes the power: the root of -Infinity is Infinity, of -0.0 it is 0.0.
double SquareRoot(double value) { return std::pow(value, 0.5); }
double Cotangent(double value) { return 1.0 / std::tan(value); }
double ToDegrees(double value) { return value * (180.0 / std::numbers::pi); }
// Java multiplies by the nearest double, which rounds unlike a division.
double ToRadians(double value) { return value * 0.017453292519943295; }
// Java divides two natural logarithms here.
double LogOfBase(double base, double value) { return std::log(value) / std::log(base); }
double LogBaseTwo(double value) { return std::log(value) / std::log(2.0); }

ColumnPtr LogKernel(KernelCall& call) {
  if (call.args.size() == 1) return DoubleKernel<std::log>(call);
  return DoublePairKernel<LogOfBase>(call);
}

ColumnPtr AbsKernel(KernelCall& call) {
  return DispatchFixed(call.expr.type.physical(), [&]<typename T>() {
    return MapUnary<T, T>(call, [](T value) -> T {
      if constexpr (std::is_floating_point_v<T>) return std::fabs(value);
      using Wide = std::conditional_t<sizeof(T) <= 4, int64_t, int128_t>;
      return value < 0 ? static_cast<T>(-static_cast<Wide>(value)) : value;
    });
  });
}

ColumnPtr SignKernelOfNumber(KernelCall& call) {
  const int128_t one = call.expr.type.id() == TypeId::kDecimal ? PowerOfTen(call.expr.type.scale()) : 1;
  return DispatchFixed(call.expr.type.physical(), [&]<typename T>() {
    return MapUnary<T, T>(call, [one](T value) -> T {
      if constexpr (std::is_floating_point_v<T>) return value > 0 ? 1 : value < 0 ? -1 : value;
      return value > 0 ? static_cast<T>(one) : value < 0 ? static_cast<T>(-one) : T{0};
    });
  });
}

Result<Signature> ResolveConstant(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 0, 0));
  return Signature{Type(TypeId::kDouble, false), {}};
}
ColumnPtr PiKernel(KernelCall& call) {
  return ConstantColumn(call.expr.type, Value(std::numbers::pi), call.physical_rows);
}
ColumnPtr EulerKernel(KernelCall& call) {
  return ConstantColumn(call.expr.type, Value(std::numbers::e), call.physical_rows);
}

// HEX of a number or of text; BIN of a number: 64 bits in two's complement, no leading zeros.
template <int kBits>
size_t WriteBits(int64_t value, char* out) {
  uint64_t rest = static_cast<uint64_t>(value);
  char digits[64];
  size_t size = 0;
  do {
    digits[size++] = "0123456789ABCDEF"[rest & ((1u << kBits) - 1)];
    rest >>= kBits;
  } while (rest != 0);
  for (size_t i = 0; i < size; ++i) out[i] = digits[size - 1 - i];
  return size;
}

template <int kBits>
ColumnPtr BitsKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  const ColumnView<int64_t> values(*call.args[0]);
  ForEachRow(call.rows,
             [&](int32_t row) { out.Commit(row, WriteBits<kBits>(values[row], out.Reserve(64))); });
  return out.Finish(call.expr.type);
}

ColumnPtr HexKernel(KernelCall& call) {
  if (!call.args[0]->type().is_string()) return BitsKernel<4>(call);
  StringOutput out(call.physical_rows);
  const ColumnView<StringView> values(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    const std::string_view text = values[row].view();
    char* to = out.Reserve(text.size() * 2);
    for (size_t i = 0; i < text.size(); ++i) {
      const unsigned char byte = static_cast<unsigned char>(text[i]);
      to[2 * i] = "0123456789ABCDEF"[byte >> 4];
      to[2 * i + 1] = "0123456789ABCDEF"[byte & 15];
    }
    out.Commit(row, text.size() * 2);
  });
  return out.Finish(call.expr.type);
}

Result<Signature> ResolveHex(std::span<const Type> args, std::span<const Value* const>) {
  if (args.size() == 1 && args[0].is_string()) return MatchSignature("t>S", args);
  return MatchSignature("l>S", args);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// An odd first digit is a byte of its own, as in Flink; text that is no hexadecimal is NULL.
ColumnPtr UnhexKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  const ColumnView<StringView> values(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    const std::string_view text = values[row].view();
    const size_t size = (text.size() + 1) / 2;
    char* to = out.Reserve(size);
    size_t at = 0;
    // A lone first digit that is fine still counts as zero in Flink.
    if (text.size() % 2 == 1) {
      if (HexDigit(text[0]) < 0) return out.SetNull(row);
      to[at++] = static_cast<char>(0);
    }
    for (size_t i = text.size() % 2; i < text.size(); i += 2) {
      const int high = HexDigit(text[i]);
      const int low = HexDigit(text[i + 1]);
      if (high < 0 || low < 0) return out.SetNull(row);
      to[at++] = static_cast<char>(high * 16 + low);
    }
    out.Commit(row, size);
  });
  return out.Finish(call.expr.type);
}

constexpr std::string_view kFamilyMath = "math";

const ScalarFunction kMath[] = {
    {"ABS", kFamilyMath, "The value without its sign; the lowest integer wraps.", "ABS(-1.50)", "1.50",
     Pattern<"n>0">, AbsKernel},
    {"SIGN", kFamilyMath, "-1, 0 or 1, in the argument's type.", "SIGN(-2.5)", "-1.0", Pattern<"n>0">,
     SignKernelOfNumber},
    {"CEIL", kFamilyMath, "Rounded up to a whole number, or a time up to a unit.", "CEIL(-1.2)", "-1",
     ResolveCeil, CeilKernel},
    {"FLOOR", kFamilyMath, "Rounded down to a whole number, or a time down to a unit.",
     "FLOOR(TIMESTAMP '2024-02-29 23:59:58' TO HOUR)", "2024-02-29 23:00:00", ResolveFloor, FloorKernel},
    {"ROUND", kFamilyMath,
     "Rounded half away from zero to as many digits; negative digits round before the point.",
     "ROUND(2.345, 2)", "2.35", ResolveRound, RoundKernel},
    {"TRUNCATE", kFamilyMath, "Cut to as many digits.", "TRUNCATE(-42.345, 2)", "-42.34", ResolveRound,
     TruncateKernel},
    {"SQRT", kFamilyMath, "The square root.", "SQRT(2.25)", "1.5", Pattern<"d>D">, DoubleKernel<SquareRoot>},
    {"LN", kFamilyMath, "The natural logarithm.", "LN(10)", "2.302585092994046", Pattern<"d>D">,
     DoubleKernel<std::log>},
    {"LOG10", kFamilyMath, "The logarithm of base 10.", "LOG10(1000)", "3.0", Pattern<"d>D">,
     DoubleKernel<std::log10>},
    {"LOG2", kFamilyMath, "The logarithm of base 2.", "LOG2(8)", "3.0", Pattern<"d>D">,
     DoubleKernel<LogBaseTwo>},
    {"LOG", kFamilyMath, "The natural logarithm, or that of base a of b.", "LOG(2, 8)", "3.0",
     Pattern<"d?d>D">, LogKernel},
    {"EXP", kFamilyMath, "e to the power of the argument.", "EXP(1)", "2.718281828459045", Pattern<"d>D">,
     DoubleKernel<std::exp>},
    {"POWER", kFamilyMath, "The first to the power of the second.", "POWER(2, 10)", "1024.0", Pattern<"dd>D">,
     DoublePairKernel<PowerOf>},
    {"SIN", kFamilyMath, "The sine of radians.", "SIN(0)", "0.0", Pattern<"d>D">, DoubleKernel<std::sin>},
    {"COS", kFamilyMath, "The cosine.", "COS(0)", "1.0", Pattern<"d>D">, DoubleKernel<std::cos>},
    {"TAN", kFamilyMath, "The tangent.", "TAN(0)", "0.0", Pattern<"d>D">, DoubleKernel<std::tan>},
    {"COT", kFamilyMath, "The cotangent.", "COT(1)", "0.6420926159343306", Pattern<"d>D">,
     DoubleKernel<Cotangent>},
    {"ASIN", kFamilyMath, "The arc sine.", "ASIN(1)", "1.5707963267948966", Pattern<"d>D">,
     DoubleKernel<std::asin>},
    {"ACOS", kFamilyMath, "The arc cosine.", "ACOS(1)", "0.0", Pattern<"d>D">, DoubleKernel<std::acos>},
    {"ATAN", kFamilyMath, "The arc tangent.", "ATAN(1)", "0.7853981633974483", Pattern<"d>D">,
     DoubleKernel<std::atan>},
    {"ATAN2", kFamilyMath, "The angle of the point (b, a).", "ATAN2(1, 1)", "0.7853981633974483",
     Pattern<"dd>D">, DoublePairKernel<std::atan2>},
    {"SINH", kFamilyMath, "The hyperbolic sine.", "SINH(1)", "1.1752011936438014", Pattern<"d>D">,
     DoubleKernel<std::sinh>},
    {"COSH", kFamilyMath, "The hyperbolic cosine.", "COSH(1)", "1.5430806348152437", Pattern<"d>D">,
     DoubleKernel<std::cosh>},
    {"TANH", kFamilyMath, "The hyperbolic tangent.", "TANH(1)", "0.7615941559557649", Pattern<"d>D">,
     DoubleKernel<std::tanh>},
    {"DEGREES", kFamilyMath, "Radians as degrees.", "DEGREES(PI())", "180.0", Pattern<"d>D">,
     DoubleKernel<ToDegrees>},
    {"RADIANS", kFamilyMath, "Degrees as radians.", "RADIANS(180)", "3.141592653589793", Pattern<"d>D">,
     DoubleKernel<ToRadians>},
    {"PI", kFamilyMath, "The number π.", "PI()", "3.141592653589793", ResolveConstant, PiKernel},
    {"E", kFamilyMath, "The number e.", "E()", "2.718281828459045", ResolveConstant, EulerKernel},
    {"HEX", kFamilyMath, "The digits of an integer, or the bytes of a text, in hexadecimal.", "HEX('é')",
     "C3A9", ResolveHex, HexKernel},
    {"BIN", kFamilyMath, "The binary digits of an integer.", "BIN(5)", "101", Pattern<"l>S">, BitsKernel<1>},
    {"UNHEX", kFamilyMath, "The bytes that hexadecimal text stands for; NULL if it is none.", "UNHEX('c3a9')",
     "x'c3a9'", Pattern<"t>X!">, UnhexKernel},
};

}  // namespace

std::span<const ScalarFunction> MathFunctions() { return kMath; }

}  // namespace caudal
