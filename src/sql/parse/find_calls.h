// Search in an expression of the syntax tree.
#pragma once

#include <functional>

#include "sql/parse/ast_expression.h"

namespace caudal::sql {

// Whether a call for which `wanted` holds stands somewhere in the expression.
bool HasCall(const Expression& expression, const std::function<bool(const Call&)>& wanted);
// The same for a name.
bool HasIdentifier(const Expression& expression, const std::function<bool(const Identifier&)>& wanted);

}  // namespace caudal::sql
