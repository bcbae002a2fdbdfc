// Syntax tree of function calls. See ast_expression.h for the rules that hold here too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sql/parse/ast_base.h"

namespace caudal::sql {

// A bare word as an argument: the unit of EXTRACT(DAY FROM x), the BOTH of TRIM; upper case.
struct Symbol {
  std::string text;
};

struct OrderItem {
  ExpressionPtr expression;
  bool descending = false;
  std::optional<bool> nulls_first;
};

struct Over {
  SourceRange range;
  ExpressionList partition_by;
  std::vector<OrderItem> order_by;
};

struct Argument {
  Name name;  // empty for a positional argument
  ExpressionPtr value;
};

// f(a, b => c), COUNT(*), SUM(DISTINCT a) FILTER (WHERE b), ROW_NUMBER() OVER (…), and the forms with words
// inside: EXTRACT(unit FROM x) → EXTRACT(Symbol, x); FLOOR(x TO unit) → FLOOR(x, Symbol); TRIM(BOTH a FROM b)
// → TRIM(Symbol, a, b); POSITION(a IN b) → POSITION(a, b); SUBSTRING(a FROM b FOR c) → SUBSTRING(a, b, c).
struct Call {
  Name name;  // as written; functions are found without regard to case
  std::vector<Argument> arguments;
  bool star = false;  // COUNT(*)
  bool distinct = false;
  bool parentheses = true;  // false for CURRENT_TIMESTAMP and its kind
  ExpressionPtr filter;     // may be null
  std::optional<Over> over;
};

enum class JsonBehaviorKind { kNull, kError, kDefault, kTrue, kFalse, kUnknown, kEmptyArray, kEmptyObject };

struct JsonBehavior {
  JsonBehaviorKind kind;
  ExpressionPtr default_value;  // of kDefault
};

enum class JsonWrapper { kWithout, kConditional, kUnconditional };

enum class JsonFunction { kValue, kExists, kQuery };

// JSON_VALUE, JSON_EXISTS and JSON_QUERY.
struct JsonCall {
  JsonFunction function;
  Name name;
  ExpressionPtr input, path;
  std::optional<TypeName> returning;
  std::optional<JsonWrapper> wrapper;
  std::optional<JsonBehavior> on_empty, on_error;
};

// JSON_OBJECT(KEY k VALUE v, …) with keys and values in turn, JSON_ARRAY(v, …).
struct JsonConstructor {
  Name name;
  ExpressionList arguments;
  std::optional<bool> null_on_null;  // false = ABSENT ON NULL
};

}  // namespace caudal::sql
