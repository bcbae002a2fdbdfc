// Rule: hidden columns reach the operators that need them, and nobody else.
#pragma once

#include "api/table.h"
#include "sql/physical/draft.h"

namespace caudal::sql {

// $clock in the input of every operator that decides about lateness; with `dead_letter`, the table of
// rejected rows, also $split, $offset and $raw in the input of every operator that may reject rows, and
// $file, $key and $headers if the table shows them. They stand last in each schema, in the order of
// hidden_columns.cc. A Calc projects them by name; Window, TopN, Deduplicate, Union and Sort hand them on;
// Aggregate, TopN and Materialize make $clock anew (the last watermark they sent) and end the others.
Draft AddHiddenColumns(const Draft& draft, const Table* dead_letter);

}  // namespace caudal::sql
