// Rule: a Top-N of windows gives its rows once, when the window is over.
#pragma once

#include "sql/physical/draft.h"

namespace caudal::sql {

// Puts an Aggregate behind each windowed TopN: all columns are its keys, so that what the TopN has taken back
// by the end of the window is gone, and what is left comes out as inserts.
Draft ExpandWindowRanks(const Draft& draft);

}  // namespace caudal::sql
