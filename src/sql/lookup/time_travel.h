// TimeTravel: FROM table FOR SYSTEM_TIME AS OF <constant>: the table as it was then, where its connector
// keeps older versions.
//
// A pure function; any thread.
#pragma once

#include "base/status.h"
#include "sql/parse/ast_query.h"
#include "sql/query_binder.h"

namespace caudal::sql {

// What the reference says, as an option of its table. User error if it is no table that can be read so, or no
// constant moment. A TIMESTAMP is one of the session's time zone. REQUIRES: reference.system_time.
Result<Option> MomentOf(const TableReference& reference, const Catalog& catalog, const BindContext& context);

}  // namespace caudal::sql
