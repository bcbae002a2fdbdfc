// Parser of type names: INT, DECIMAL(10, 2), ROW<a INT, b ARRAY<STRING> NOT NULL>, TIMESTAMP(3) WITH LOCAL
// TIME ZONE.
#pragma once

#include "base/status.h"
#include "sql/parse/ast_expression.h"
#include "sql/parse/token_cursor.h"

namespace caudal::sql {

// Takes a type from the cursor. `[NOT] NULL` behind it belongs to it when `with_nullability` is set (columns
// and fields, not CAST). Types that Flink has and caudal has not are refused by name.
Result<TypeName> ParseTypeName(TokenCursor& cursor, bool with_nullability);

}  // namespace caudal::sql
