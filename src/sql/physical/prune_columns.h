// Rule: no node carries a column that nobody reads.
#pragma once

#include "sql/physical/draft.h"

namespace caudal::sql {

// Columns that a Scan must check (physical and NOT NULL) are read in any case: which rows break the table's
// contract does not depend on the query. Operators that keep whole rows get a Calc in front that narrows
// them.
Draft PruneColumns(const Draft& draft);

}  // namespace caudal::sql
