// Rule: keyed operators stand behind an exchange by key group; and the final ids of operators.
#pragma once

#include "sql/physical/draft.h"

namespace caudal::sql {

// At parallelism 1 there is no exchange by key, but lanes cut the plan into tasks that run side by side: one
// reads and decodes, and each reader of a shared node goes on alone. Operators without keys (a global
// Aggregate, Sort) get all rows in one task.
void PlaceExchanges(Draft& draft, int parallelism);

// "owner/clause" becomes "owner/clause/1": the ordinal counts the same clauses of one owner.
void AssignIds(Draft& draft);

}  // namespace caudal::sql
