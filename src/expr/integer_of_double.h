// The whole number that Java's narrowing makes of a double; C++ leaves what does not fit undefined.
//
// A pure function for casts and aggregates, from any thread.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace caudal {

// (int) or (long) of a double: without its fraction, NaN is 0, what is beyond the range its end. Narrower
// types are cut from the int, as in Java: 16256 is -128 as a TINYINT.
template <std::integral To>
To IntegerOfDouble(double value) {
  using Wide = std::conditional_t<sizeof(To) < 8, int32_t, int64_t>;
  constexpr Wide kMax = std::numeric_limits<Wide>::max();
  constexpr Wide kMin = std::numeric_limits<Wide>::min();
  if (std::isnan(value)) return 0;
  if (value >= static_cast<double>(kMax)) return static_cast<To>(kMax);
  if (value <= static_cast<double>(kMin)) return static_cast<To>(kMin);
  return static_cast<To>(static_cast<Wide>(value));
}

}  // namespace caudal
