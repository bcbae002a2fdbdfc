// Rule: hidden columns reach the operators that need them, and nobody else.
#pragma once

#include "sql/physical/draft.h"

namespace caudal::sql {

// $clock in the input of every operator that decides about lateness; with `dead_letter` also $split, $offset
// and $raw in the input of every operator that may reject rows. They stand last in each schema, in the order
// of data/schema.h. A Calc projects them by name; Window, TopN, Deduplicate, Union and Sort hand them on;
// Aggregate, TopN and Materialize make $clock anew (the last watermark they sent) and end the others.
Draft AddHiddenColumns(const Draft& draft, bool dead_letter);

}  // namespace caudal::sql
