// Literals of the syntax tree to constant Exprs, with the types that Flink gives them.
#pragma once

#include "base/status.h"
#include "expr/expr.h"
#include "sql/parse/ast_base.h"
#include "sql/parse/source_text.h"

namespace caudal::sql {

// `negative`: a minus stands in front of the number. User error for what the type cannot hold.
Result<Expr> BindLiteral(const Literal& literal, bool negative, SourceRange range, const SourceText& source);
Result<Expr> BindInterval(const IntervalLiteral& interval, SourceRange range, const SourceText& source);
// A word that is an argument (the unit of EXTRACT), as a CHAR literal.
Expr BindWord(std::string_view word);

}  // namespace caudal::sql
