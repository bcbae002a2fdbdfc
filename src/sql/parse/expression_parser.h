// ExpressionParser: tokens to Expression, by precedence climbing with Flink's precedences.
//
// Borrows the cursor. Nesting is bounded (200 levels of recursion, 1000 levels of tree), so that no text can
// overflow the stack here or in whoever walks the tree later. One thread.
#pragma once

#include "base/status.h"
#include "sql/parse/ast_expression.h"
#include "sql/parse/token_cursor.h"

namespace caudal::sql {

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenCursor& cursor) : cursor_(cursor) {}

  Result<ExpressionPtr> Parse() { return ParseAbove(0); }
  // a, b, c: at least one.
  Result<ExpressionList> ParseList();
  // expression [ASC | DESC] [NULLS FIRST | LAST], …
  Result<std::vector<OrderItem>> ParseOrderItems();
  // YEAR … SECOND, also in the plural; `expected` is for the message.
  Result<TimeUnit> ParseTimeUnit();

 private:
  // Parses operators that bind at least as tightly as `precedence`.
  Result<ExpressionPtr> ParseAbove(int precedence);
  Result<ExpressionPtr> ParsePrefix();
  // One infix or postfix operator after `left`; leaves `left` alone if none binds tightly enough.
  Result<bool> ParseInfix(int precedence, ExpressionPtr& left);
  Status RefuseInfix() const;
  Result<bool> ParseRangePredicate(ExpressionPtr& left);
  Status ParseIn(ExpressionPtr& left, bool negated);
  Status ParseIs(ExpressionPtr& left);
  Result<ExpressionPtr> ParsePostfix(ExpressionPtr operand);

  Result<ExpressionPtr> ParsePrimary();
  Result<ExpressionPtr> ParseKeyword(const Token& word);
  Result<ExpressionPtr> ParseLiteral();
  Result<ExpressionPtr> ParseInterval();
  Result<ExpressionPtr> ParseParenthesized();
  Result<ExpressionPtr> ParseCase();
  Result<ExpressionPtr> ParseCast();
  Result<ExpressionPtr> ParseIdentifier();
  Result<ExpressionPtr> ParseCollection(const Token& word);
  Result<ExpressionList> ParseUntil(std::string_view closing);

  // Operands are in primary_parser.cc, calls in call_parser.cc.
  Result<ExpressionPtr> ParseCall(const Token& name);
  Result<ExpressionPtr> ParseSpecialCall(const Token& name);
  Status ParseArguments(Call& call);
  Status ParseCallSuffixes(Call& call);
  Result<Over> ParseOver();
  Status ParseExtract(Call& call);
  Status ParseFloor(Call& call);
  Status ParseTrim(Call& call);
  Status ParsePosition(Call& call);
  Status ParseSubstring(Call& call);
  Status ParseOverlay(Call& call);
  Status ParseTimestampArithmetic(Call& call);
  Result<ExpressionPtr> ParseUnitSymbol();
  Status AddArgument(Call& call);

  Result<ExpressionPtr> ParseJsonCall(const Token& name);
  Status ParseJsonClauses(JsonCall& call);
  Status ParseJsonBehavior(JsonCall& call);
  Status ParseJsonWrapper(JsonCall& call);
  Result<ExpressionPtr> ParseJsonConstructor(const Token& name);
  Status ParseJsonNullClause(JsonConstructor& constructor);

  template <typename Node>
  ExpressionPtr Make(SourceRange begin, Node node) const {
    return std::make_unique<Expression>(Expression{cursor_.RangeFrom(begin), std::move(node)});
  }

  TokenCursor& cursor_;
  int nesting_ = 0;
  int deepest_child_ = 0;  // tree depth of the deepest operand parsed so far at this level
};

}  // namespace caudal::sql
