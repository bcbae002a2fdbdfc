// SHOW and DESCRIBE: what the catalog knows, as rows of text.
#pragma once

#include "api/catalog.h"
#include "base/status.h"
#include "sql/parse/ast_statement.h"
#include "sql/parse/source_text.h"
#include "sql/session.h"

namespace caudal::sql {

Result<TextResult> ShowObjects(const Show& show, const Catalog& catalog, const SourceText& source);
// Columns with type, nullability, key and watermark, as Flink's DESCRIBE has them.
Result<TextResult> DescribeObject(const ObjectName& name, const Catalog& catalog, const SourceText& source);

// Whether the text matches a SQL LIKE pattern with % and _.
bool MatchesLike(std::string_view text, std::string_view pattern);

}  // namespace caudal::sql
