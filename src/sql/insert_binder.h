// INSERT INTO: a query's columns on their way into a table.
#pragma once

#include "base/status.h"
#include "sql/parse/ast_statement.h"
#include "sql/parse/source_text.h"
#include "sql/query_binder.h"

namespace caudal::sql {

// Binds the query, casts its columns to those that the table stores (as far as Flink does so without CAST)
// and adds the Sink. Returns the Sink's node.
Result<int> BindInsert(const Insert& insert, QueryBinder& queries, const SourceText& source);

}  // namespace caudal::sql
