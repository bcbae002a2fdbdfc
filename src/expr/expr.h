// Expr: a bound, typed, pure expression as plain data: what the binder makes, the plan carries and Evaluator
// runs.
//
// No I/O, no state. Trees are owned by value from the root; copied when a plan is copied. Literals, columns
// and calls only: special forms (AND, CASE, COALESCE, CAST …) are calls whose function evaluates its
// arguments lazily.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/sql_position.h"
#include "data/type.h"
#include "data/value.h"

namespace caudal {

struct ScalarFunction;

struct Expr {
  enum class Kind : uint8_t { kLiteral, kColumn, kCall };

  Kind kind = Kind::kLiteral;
  Type type;
  Value literal;                             // kLiteral
  int column = -1;                           // kColumn: position in the input schema
  std::string name;                          // kColumn: its name; kCall: the function's; for printing
  const ScalarFunction* function = nullptr;  // kCall: lives as long as the process
  std::vector<Expr> args;                    // kCall, already cast to what the function takes
  SqlPosition position;                      // for errors at run time

  static Expr Literal(Type type, Value value);
  static Expr Column(int column, std::string name, Type type);

  // Canonical text, as EXPLAIN prints it.
  std::string ToString() const;
  bool operator==(const Expr& other) const;  // all but position
};

}  // namespace caudal
