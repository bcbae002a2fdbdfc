// The 128-bit integer behind DECIMAL(p > 18). Two's complement, little endian, as in Arrow's Decimal128.
#pragma once

namespace caudal {

__extension__ typedef __int128 int128_t;
__extension__ typedef unsigned __int128 uint128_t;

}  // namespace caudal
