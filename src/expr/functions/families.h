// The families of scalar functions: one table each, in functions/<family>.cc. ScalarFunctions() strings them
// together; nobody else reads this header.
#pragma once

#include <span>

#include "expr/scalar_function.h"

namespace caudal {

std::span<const ScalarFunction> ComparisonFunctions();
std::span<const ScalarFunction> LogicFunctions();
std::span<const ScalarFunction> ArithmeticFunctions();
std::span<const ScalarFunction> ConditionalFunctions();
std::span<const ScalarFunction> CastFunctions();
std::span<const ScalarFunction> MathFunctions();
std::span<const ScalarFunction> StringFunctions();
std::span<const ScalarFunction> StringChangeFunctions();
std::span<const ScalarFunction> UrlFunctions();
std::span<const ScalarFunction> PatternFunctions();
std::span<const ScalarFunction> TemporalFunctions();
std::span<const ScalarFunction> TemporalTextFunctions();
std::span<const ScalarFunction> JsonFunctions();
std::span<const ScalarFunction> JsonBuildFunctions();
std::span<const ScalarFunction> HashFunctions();
std::span<const ScalarFunction> CollectionFunctions();

}  // namespace caudal
