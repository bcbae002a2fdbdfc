// Arithmetic of times with intervals, which shares the signs + - * with numbers.
//
// Not a family of its own: arithmetic.cc asks here first. Stateless.
#pragma once

#include <optional>
#include <span>

#include "expr/scalar_function.h"

namespace caudal {

// The signature of `left sign right` when an interval takes part; empty when none does, for numbers to
// decide.
std::optional<Result<Signature>> ResolveIntervals(char sign, std::span<const Type> args);
// REQUIRES: ResolveIntervals gave the signature.
ColumnPtr IntervalKernel(char sign, KernelCall& call);

// As Java: past 64 bits the result wraps.
inline int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t WrappingMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// A date or timestamp moved by whole months; the day is cut to the month's last. `days` since 1970-01-01.
int64_t AddMonths(int64_t days, int64_t months);

}  // namespace caudal
