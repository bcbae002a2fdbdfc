// Multiplication and division of unscaled decimals, exact in 256 bits and rounded half up once.
//
// Pure functions. False when the result has more than `precision` digits.
#pragma once

#include "data/int128.h"

namespace caudal {

// left × right ÷ 10^drop. REQUIRES: 0 <= drop <= 38.
bool MultiplyDecimals(int128_t left, int128_t right, int drop, int precision, int128_t* out);
// left × 10^shift ÷ right. REQUIRES: right != 0; -38 <= shift <= 76.
bool DivideDecimals(int128_t left, int128_t right, int shift, int precision, int128_t* out);

}  // namespace caudal
