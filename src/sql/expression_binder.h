// ExpressionBinder: syntax tree to bound Expr over the columns of a Scope.
//
// Implicit casts are put in by the functions' signatures (expr/). What only a SELECT can bind (aggregates,
// ROW_NUMBER, TUMBLE_START) goes to a CallHandler. Borrows all it is given. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "expr/expr.h"
#include "sql/parse/ast_expression.h"
#include "sql/parse/source_text.h"
#include "sql/scope.h"

namespace caudal::sql {

class ExpressionBinder;

// Binds calls that are no scalar functions.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  // Nothing: not one of this handler's.
  virtual Result<std::optional<Expr>> BindCall(const Call& call, SourceRange range,
                                               ExpressionBinder& binder) = 0;
};

class ExpressionBinder {
 public:
  ExpressionBinder(const SourceText& source, const Scope& scope, CallHandler* handler = nullptr)
      : source_(source), scope_(scope), handler_(handler) {}

  const SourceText& source() const { return source_; }
  const Scope& scope() const { return scope_; }

  Result<Expr> Bind(const Expression& expression);
  // The same; User error if the result is not BOOLEAN. `clause` is for the message: "WHERE".
  Result<Expr> BindCondition(const Expression& expression, std::string_view clause);
  // The conditions between the ANDs, in order.
  Status BindConjuncts(const Expression& expression, std::string_view clause, std::vector<Expr>* conjuncts);
  // A call of a scalar function by its name in SQL; User error if there is none.
  Result<Expr> CallFunction(std::string_view name, std::vector<Expr> args, SourceRange range);

 private:
  struct Visitor;

  Result<Expr> BindIdentifier(const Identifier& identifier, SourceRange range);
  Result<Expr> UnknownColumn(const Name& name) const;
  Result<Expr> AccessField(Expr row, const Name& field);
  Result<Expr> BindUnary(const Unary& unary, SourceRange range);
  Result<Expr> BindBinary(const Binary& binary, SourceRange range);
  Result<Expr> BindIs(const Is& is, SourceRange range);
  Result<Expr> BindBetween(const Between& between, SourceRange range);
  Result<Expr> BindIn(const InList& in, SourceRange range);
  Result<Expr> BindLike(const Like& like, SourceRange range);
  Result<Expr> BindCase(const Case& node, SourceRange range);
  Result<Expr> BindCast(const Cast& cast, SourceRange range);
  Result<Expr> BindCallNode(const Call& call, SourceRange range);
  Result<Expr> BindJsonCall(const JsonCall& call, SourceRange range);
  Status AddJsonBehavior(const std::optional<JsonBehavior>& behavior, bool with_default,
                         std::vector<Expr>* args);
  Result<Expr> BindJsonConstructor(const JsonConstructor& call, SourceRange range);
  Result<std::vector<Expr>> BindAll(const ExpressionList& list);
  Result<Expr> Negate(Expr condition, bool negated, SourceRange range);

  const SourceText& source_;
  const Scope& scope_;
  CallHandler* handler_;
};

// Upper case, ASCII only: how functions are found.
std::string UpperCase(std::string_view text);

}  // namespace caudal::sql
