// Rewriting of column references in bound expressions.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "expr/expr.h"

namespace caudal::sql {

// The expression with each column i replaced by columns[i]. REQUIRES: every column is within `columns`.
Expr Substitute(const Expr& expr, std::span<const Expr> columns);

// Calls `visit` with every column reference, in order of the text.
void VisitColumns(const Expr& expr, const std::function<void(const Expr&)>& visit);

}  // namespace caudal::sql
