// SplitRoaring: bytes in Roaring's portable form of 64 bits, checked and taken apart, before CRoaring reads
// them.
//
// A pure function; any thread. CRoaring 0.2 looks at lengths alone: what is out of order or miscounted would
// be taken, and give wrong answers, or reads past the end, later. Its class for 64 bits is not used at all:
// it loops for ever where a bitmap is empty, which Java writes, and guesses where one ends.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal::iceberg {

// The bitmap of the low halves of all positions with this high half.
struct RoaringPart {
  uint32_t high = 0;
  std::string_view bitmap;  // portable form of 32 bits, correct to the last bit; points into the bytes
};

// Ascending. Data error unless `bytes` are exactly one 64-bit bitmap of positions from 0 to 2^63 − 1.
Result<std::vector<RoaringPart>> SplitRoaring(std::string_view bytes);

}  // namespace caudal::iceberg
