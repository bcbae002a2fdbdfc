// TypeName to Type: defaults and limits as in Flink.
#pragma once

#include "base/status.h"
#include "data/type.h"
#include "sql/parse/ast_base.h"
#include "sql/parse/source_text.h"

namespace caudal::sql {

// Nullable unless NOT NULL was written. User error, with the position, for a length, precision or scale out
// of range.
Result<Type> BindType(const TypeName& name, const SourceText& source);

}  // namespace caudal::sql
