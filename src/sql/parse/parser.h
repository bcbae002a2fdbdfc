// The parser of Flink's SQL dialect: text to syntax trees.
//
// Pure functions, any thread. The trees refer to nothing; their ranges are positions in `source`, which is
// kept by whoever wants to report errors. Every error names what is wrong and where; what Flink has and
// caudal has not is refused by name, never read as something else.
#pragma once

#include <vector>

#include "base/status.h"
#include "sql/parse/ast_statement.h"
#include "sql/parse/source_text.h"

namespace caudal::sql {

// Statements separated by ';'; empty ones vanish.
Result<std::vector<StatementPtr>> ParseScript(const SourceText& source);

// Exactly one statement, with or without ';'.
Result<StatementPtr> ParseStatement(const SourceText& source);

// The whole text is one query, expression or type.
Result<QueryPtr> ParseQuery(const SourceText& source);
Result<ExpressionPtr> ParseExpression(const SourceText& source);
Result<TypeName> ParseType(const SourceText& source);

}  // namespace caudal::sql
