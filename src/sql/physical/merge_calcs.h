// Rule: Calcs that follow each other become one, and the row number of a TopN is bounded by the conditions on
// it.
#pragma once

#include "base/status.h"
#include "sql/physical/draft.h"

namespace caudal::sql {

// A Calc read by others too stays apart, and so does one whose computed column would be computed twice.
// Filters keep their order and names. User error for a ROW_NUMBER() without an upper bound.
Result<Draft> MergeCalcs(const Draft& draft, const FailAt& fail);

}  // namespace caudal::sql
