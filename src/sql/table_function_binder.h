// Table functions in FROM: the window functions TUMBLE, HOP and SESSION, and the process table function
// DEDUPLICATE.
#pragma once

#include "base/status.h"
#include "sql/parse/ast_query.h"
#include "sql/query_binder.h"

namespace caudal::sql {

// Arguments stand in order or by name, as in Flink. Functions that Flink has and caudal has not are refused
// by name.
Result<Relation> BindTableFunction(QueryBinder& queries, const TableFunction& function,
                                   const BindContext& context);

}  // namespace caudal::sql
