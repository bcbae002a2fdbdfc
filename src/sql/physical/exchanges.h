// Rule: keyed operators stand behind an exchange by key group; and the final ids of operators.
#pragma once

#include "sql/physical/draft.h"

namespace caudal::sql {

// At parallelism 1 everything is chained. Operators without keys (a global Aggregate, Sort) get all rows in
// one task.
void PlaceExchanges(Draft& draft, int parallelism);

// "owner/clause" becomes "owner/clause/1": the ordinal counts the same clauses of one owner.
void AssignIds(Draft& draft);

}  // namespace caudal::sql
