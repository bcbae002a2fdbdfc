// FunctionReference: docs/functions.md as text, made from the tables of functions, so that it cannot be
// stale.
#pragma once

#include <string>

#include "expr/aggregate_function.h"
#include "expr/scalar_function.h"

namespace caudal {

std::string FunctionReference();

}  // namespace caudal
