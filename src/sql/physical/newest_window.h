// The rule of the newest window: which windowed Aggregates may leave out windows that nobody sees.
#pragma once

#include "sql/physical/draft.h"

namespace caudal::sql {

// Sets `newest_window` on each Aggregate over time whose one reader keeps, for each group, the window that
// ends last (ROW_NUMBER() OVER (PARTITION BY group ORDER BY window_end DESC) = 1) and has readers that want
// new rows only: a table by key, which holds the newest row of a key at every commit.
// REQUIRES: InferChangelog has set the kinds and flags.
void FindNewestWindows(Draft* draft);

}  // namespace caudal::sql
