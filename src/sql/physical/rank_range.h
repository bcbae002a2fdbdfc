// The bounds that conditions put on a row number.
#pragma once

#include <cstdint>
#include <limits>

#include "expr/expr.h"

namespace caudal::sql {

struct RankRange {
  int64_t first = 1;
  int64_t last = std::numeric_limits<int64_t>::max();
};

// Narrows the range if `condition` only compares column `rank` with constants; else false and no change.
bool NarrowRank(const Expr& condition, int rank, RankRange* range);

}  // namespace caudal::sql
