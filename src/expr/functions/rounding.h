// CEIL, FLOOR, ROUND, TRUNCATE of numbers, and of times to a unit (FLOOR(ts TO HOUR)).
//
// For math.cc's table.
#pragma once

#include "expr/scalar_function.h"

namespace caudal {

Result<Signature> ResolveCeil(std::span<const Type> args, std::span<const Value* const> literals);
Result<Signature> ResolveFloor(std::span<const Type> args, std::span<const Value* const> literals);
Result<Signature> ResolveRound(std::span<const Type> args, std::span<const Value* const> literals);
ColumnPtr CeilKernel(KernelCall& call);
ColumnPtr FloorKernel(KernelCall& call);
ColumnPtr RoundKernel(KernelCall& call);
ColumnPtr TruncateKernel(KernelCall& call);

}  // namespace caudal
