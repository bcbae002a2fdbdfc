// The check that INSERT puts around a value on its way into a NOT NULL column.
#pragma once

#include <string>

#include "expr/expr.h"

namespace caudal::sql {

// `value` as it is, NOT NULL in type; a row where it is NULL fails: "column 'x' is NOT NULL, and its value is
// NULL". No function of SQL: nobody can call it by name.
Expr CheckNotNull(Expr value, std::string column);

// What the check stands around; an expression without a check is itself.
const Expr& WithoutCheck(const Expr& expr);

}  // namespace caudal::sql
