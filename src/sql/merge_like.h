// CREATE TABLE … LIKE: what the new table takes from another.
#pragma once

#include "api/catalog.h"
#include "base/status.h"
#include "sql/parse/ast_statement.h"
#include "sql/parse/source_text.h"

namespace caudal::sql {

// Puts columns, watermark, key, partitions and options of the source into `table` as the rules say (by
// default INCLUDING ALL OVERWRITING OPTIONS, as in Flink). A part that `create` states too is a User error
// unless the rule is OVERWRITING or EXCLUDING.
Status MergeLike(const LikeClause& like, const CreateTable& create, const Catalog& catalog,
                 const SourceText& source, Table* table);

}  // namespace caudal::sql
