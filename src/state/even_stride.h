// EvenStride: the step of a walk over places that comes to each once and, stopped anywhere, has been all over
// them.
//
// For snapshots of hash tables. Written in the order of its places, which is that of the hashes, a table
// could only be read badly: one that is filled from it begins small, and all that it has room for would
// belong to its first places, so that each insertion goes past those before. A free function, no state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace caudal {

// A walk in steps of the golden section comes near to no place twice before it has been near to all others;
// it comes to all of them if the step has no divisor with their number. REQUIRES: places > 0.
inline size_t EvenStride(size_t places) {
  constexpr double kGoldenSection = 0.6180339887498949;
  size_t stride = std::max<size_t>(1, static_cast<size_t>(static_cast<double>(places) * kGoldenSection));
  while (std::gcd(stride, places) != 1) ++stride;
  return stride;
}

}  // namespace caudal
