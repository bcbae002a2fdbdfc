// ScalarFunction: a function described as data. One entry in the table of functions/<family>.cc adds a
// function; its example is run as a test and becomes its line in the reference.
//
// Entries are constants that live as long as the process; kernels are called from any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/chunk.h"
#include "expr/expr.h"

namespace caudal {

class Evaluator;
class RowErrors;

// What binding a call gives: the types its arguments are cast to, and its result's.
struct Signature {
  Type result;
  std::vector<Type> args;
};

// What a kernel gets. Arguments and result have `physical_rows` rows; only those of `rows` are read and
// written.
struct KernelCall {
  const Expr& expr;                 // the call itself: result type, literal arguments
  std::span<const ColumnPtr> args;  // evaluated; empty for a lazy function
  RowSet rows;
  int32_t physical_rows;
  RowErrors& errors;     // a row that fails is reported here and gets NULL
  Evaluator& evaluator;  // session zone and clock; lazy functions evaluate their own arguments through it
  const Chunk& chunk;    // for lazy functions
};

using Kernel = ColumnPtr (*)(KernelCall& call);
// Infers the result type from the arguments' types and literal values (null where not a literal), as Flink
// does; the message of a User error says which argument is wrong.
using Resolve = Result<Signature> (*)(std::span<const Type> args, std::span<const Value* const> literals);

struct ScalarFunction {
  std::string_view name;  // as in SQL, upper case; operators by sign ("+")
  std::string_view
      family;  // comparison, logic, arithmetic, string, temporal, conditional, cast, json, hash, collection
  std::string_view doc;      // one line
  std::string_view example;  // "UPPER('año')"
  std::string_view example_result;
  Resolve resolve;
  Kernel kernel;
  bool lazy = false;          // evaluates its arguments itself, over the rows that need them
  bool deterministic = true;  // NOW() and RAND() are not
  bool strict = true;         // NULL in, NULL out: the evaluator then skips rows with a NULL argument
};

// Every scalar function, in the order of the reference: the one visible list.
std::span<const ScalarFunction> ScalarFunctions();
// By upper-case name, aliases included; null if there is none.
const ScalarFunction* FindScalarFunction(std::string_view name);
// A call with implicit casts put around its arguments where the signature asks for them.
Result<Expr> BindCall(const ScalarFunction& function, std::vector<Expr> args,
                      const SqlPosition& position = {});
// CAST or TRY_CAST of `arg`; User error when Flink has no such cast. No call when the types are equal.
Result<Expr> BindCast(Expr arg, const Type& target, bool try_cast = false, const SqlPosition& position = {});
// The type that UNION, CASE, COALESCE, IN and comparisons widen to; User error if there is none.
Result<Type> CommonType(std::span<const Type> types);
// Whether an INSERT may store `from` in a column of type `to` without a CAST, as Flink decides.
bool CanStoreImplicitly(const Type& from, const Type& to);

}  // namespace caudal
