#include "sql/parse/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/parse/name_parser.h"
#include "sql/parse/reserved_words.h"
#include "sql/parse/type_parser.h"

namespace caudal::sql {
namespace {

constexpr int kMaxNesting = 200;
constexpr int kMaxTreeDepth = 1000;

// Flink's (Calcite's) precedences; a larger one binds tighter. `||` binds like `*`.
constexpr int kOrPrecedence = 22;
constexpr int kAndPrecedence = 24;
constexpr int kNotPrecedence = 26;
constexpr int kIsPrecedence = 28;
constexpr int kComparePrecedence = 30;
constexpr int kRangePrecedence = 32;
constexpr int kAddPrecedence = 40;
constexpr int kMultiplyPrecedence = 60;
constexpr int kSignPrecedence = 80;

struct InfixOperator {
  std::string_view token;
  int precedence;
  BinaryOperator op;
};

constexpr InfixOperator kInfixOperators[] = {
    {"OR", kOrPrecedence, BinaryOperator::kOr},
    {"AND", kAndPrecedence, BinaryOperator::kAnd},
    {"=", kComparePrecedence, BinaryOperator::kEqual},
    {"<>", kComparePrecedence, BinaryOperator::kNotEqual},
    {"<", kComparePrecedence, BinaryOperator::kLess},
    {"<=", kComparePrecedence, BinaryOperator::kLessEqual},
    {">", kComparePrecedence, BinaryOperator::kGreater},
    {">=", kComparePrecedence, BinaryOperator::kGreaterEqual},
    {"+", kAddPrecedence, BinaryOperator::kAdd},
    {"-", kAddPrecedence, BinaryOperator::kSubtract},
    {"*", kMultiplyPrecedence, BinaryOperator::kMultiply},
    {"/", kMultiplyPrecedence, BinaryOperator::kDivide},
    {"%", kMultiplyPrecedence, BinaryOperator::kModulo},
    {"||", kMultiplyPrecedence, BinaryOperator::kConcat},
};

// Operators of Flink's grammar that stand between two operands and are not built.
constexpr std::string_view kUnbuiltInfix[] = {"OVERLAPS", "CONTAINS", "PRECEDES", "SUCCEEDS",
                                              "EQUALS",   "RLIKE",    "ILIKE",    "SUBMULTISET",
                                              "MULTISET", "MEMBER",   "FORMAT"};

}  // namespace

Result<ExpressionPtr> ExpressionParser::ParseAbove(int precedence) {
  const int siblings_deepest = std::exchange(deepest_child_, 0);
  if (++nesting_ > kMaxNesting) {
    return cursor_.Fail(cursor_.Peek().range,
                        fmt::format("the expression is nested more than {} deep", kMaxNesting));
  }
  ASSIGN_OR_RETURN(ExpressionPtr left, ParsePrefix());
  int depth = 1 + std::exchange(deepest_child_, 0);
  while (true) {
    SourceRange at = cursor_.Peek().range;
    ASSIGN_OR_RETURN(bool more, ParseInfix(precedence, left));
    if (!more) break;
    depth = 1 + std::max(depth, std::exchange(deepest_child_, 0));
    if (depth > kMaxTreeDepth) {
      return cursor_.Fail(
          at, fmt::format("the expression has more than {} operators in one chain", kMaxTreeDepth));
    }
  }
  --nesting_;
  deepest_child_ = std::max(siblings_deepest, depth);
  return left;
}

Result<ExpressionList> ExpressionParser::ParseList() {
  ExpressionList list;
  do {
    ASSIGN_OR_RETURN(ExpressionPtr expression, Parse());
    list.push_back(std::move(expression));
  } while (cursor_.AcceptSymbol(","));
  return list;
}

Result<ExpressionPtr> ExpressionParser::ParsePrefix() {
  SourceRange begin = cursor_.Peek().range;
  if (cursor_.AcceptKeyword("NOT")) {
    ASSIGN_OR_RETURN(ExpressionPtr operand, ParseAbove(kNotPrecedence));
    return Make(begin, Unary{UnaryOperator::kNot, std::move(operand)});
  }
  if (cursor_.NextIsSymbol("-") || cursor_.NextIsSymbol("+")) {
    UnaryOperator op = cursor_.Take().text == "-" ? UnaryOperator::kMinus : UnaryOperator::kPlus;
    ASSIGN_OR_RETURN(ExpressionPtr operand, ParseAbove(kSignPrecedence));
    return Make(begin, Unary{op, std::move(operand)});
  }
  ASSIGN_OR_RETURN(ExpressionPtr primary, ParsePrimary());
  return ParsePostfix(std::move(primary));
}

Result<bool> ExpressionParser::ParseInfix(int precedence, ExpressionPtr& left) {
  const Token token = cursor_.Peek();
  SourceRange begin = left->range;
  if (token.kind == TokenKind::kSymbol || token.kind == TokenKind::kWord) {
    std::string_view word = token.kind == TokenKind::kWord ? token.keyword : token.text;
    for (const InfixOperator& infix : kInfixOperators) {
      if (infix.token != word) continue;
      if (infix.precedence < precedence) return false;
      cursor_.Take();
      if (infix.precedence == kComparePrecedence &&
          (cursor_.NextIsKeyword("ANY") || cursor_.NextIsKeyword("ALL") || cursor_.NextIsKeyword("SOME"))) {
        return cursor_.NotBuilt(fmt::format("a comparison with {} (subquery)", cursor_.Peek().keyword));
      }
      // Left-associative: the right operand must bind tighter.
      ASSIGN_OR_RETURN(ExpressionPtr right, ParseAbove(infix.precedence + 1));
      left = Make(begin, Binary{infix.op, std::move(left), std::move(right)});
      return true;
    }
  }
  if (token.kind != TokenKind::kWord) return false;
  RETURN_IF_ERROR(RefuseInfix());
  if (token.keyword == "IS" && kIsPrecedence >= precedence) {
    RETURN_IF_ERROR(ParseIs(left));
    return true;
  }
  if (kRangePrecedence >= precedence) return ParseRangePredicate(left);
  return false;
}

Status ExpressionParser::RefuseInfix() const {
  const Token& word = cursor_.Peek(cursor_.NextIsKeyword("NOT") ? 1 : 0);
  // FORMAT, PRECEDES and the like may also be an alias: only SELECT a ILIKE b has an operand behind it.
  if (std::ranges::find(kUnbuiltInfix, word.keyword) == std::end(kUnbuiltInfix) ||
      !IsReservedWord(word.keyword)) {
    return Status();
  }
  return cursor_.NotBuilt(word.range, word.keyword);
}

// [NOT] BETWEEN, IN, LIKE.
Result<bool> ExpressionParser::ParseRangePredicate(ExpressionPtr& left) {
  const bool negated = cursor_.NextIsKeyword("NOT");
  const Token word = cursor_.Peek(negated ? 1 : 0);
  SourceRange begin = left->range;
  if (word.IsKeyword("BETWEEN")) {
    if (negated) cursor_.Take();
    cursor_.Take();
    bool symmetric = cursor_.AcceptKeyword("SYMMETRIC");
    if (!symmetric) cursor_.AcceptKeyword("ASYMMETRIC");
    ASSIGN_OR_RETURN(ExpressionPtr low, ParseAbove(kRangePrecedence + 1));
    RETURN_IF_ERROR(cursor_.ExpectKeyword("AND"));
    ASSIGN_OR_RETURN(ExpressionPtr high, ParseAbove(kRangePrecedence + 1));
    left = Make(begin, Between{std::move(left), std::move(low), std::move(high), negated, symmetric});
    return true;
  }
  if (word.IsKeyword("LIKE") || word.IsKeyword("SIMILAR")) {
    if (negated) cursor_.Take();
    const bool similar = cursor_.Take().keyword == "SIMILAR";
    if (similar) RETURN_IF_ERROR(cursor_.ExpectKeyword("TO"));
    ASSIGN_OR_RETURN(ExpressionPtr pattern, ParseAbove(kRangePrecedence + 1));
    ExpressionPtr escape;
    if (cursor_.AcceptKeyword("ESCAPE")) {
      ASSIGN_OR_RETURN(escape, ParseAbove(kRangePrecedence + 1));
    }
    left = Make(begin, Like{std::move(left), std::move(pattern), std::move(escape), negated, similar});
    return true;
  }
  if (word.IsKeyword("IN")) {
    if (negated) cursor_.Take();
    cursor_.Take();
    RETURN_IF_ERROR(ParseIn(left, negated));
    return true;
  }
  return false;
}

Status ExpressionParser::ParseIn(ExpressionPtr& left, bool negated) {
  SourceRange begin = left->range;
  RETURN_IF_ERROR(cursor_.ExpectSymbol("("));
  for (std::string_view word : {"SELECT", "WITH", "VALUES"}) {
    if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt("IN (subquery)");
  }
  ASSIGN_OR_RETURN(ExpressionList values, ParseList());
  if (!cursor_.AcceptSymbol(")")) return cursor_.Unexpected("',' or ')'");
  left = Make(begin, InList{std::move(left), std::move(values), negated});
  return Status();
}

Status ExpressionParser::ParseIs(ExpressionPtr& left) {
  SourceRange begin = left->range;
  cursor_.Take();
  const bool negated = cursor_.AcceptKeyword("NOT");
  if (cursor_.AcceptKeywords({"DISTINCT", "FROM"})) {
    ASSIGN_OR_RETURN(ExpressionPtr right, ParseAbove(kComparePrecedence + 1));
    left = Make(begin, Binary{negated ? BinaryOperator::kIsNotDistinctFrom : BinaryOperator::kIsDistinctFrom,
                              std::move(left), std::move(right)});
    return Status();
  }
  Predicate predicate;
  if (cursor_.AcceptKeyword("NULL")) {
    predicate = Predicate::kNull;
  } else if (cursor_.AcceptKeyword("TRUE")) {
    predicate = Predicate::kTrue;
  } else if (cursor_.AcceptKeyword("FALSE")) {
    predicate = Predicate::kFalse;
  } else if (cursor_.AcceptKeyword("UNKNOWN")) {
    predicate = Predicate::kUnknown;
  } else if (cursor_.AcceptKeyword("JSON")) {
    predicate = cursor_.AcceptKeyword("OBJECT")   ? Predicate::kJsonObject
                : cursor_.AcceptKeyword("ARRAY")  ? Predicate::kJsonArray
                : cursor_.AcceptKeyword("SCALAR") ? Predicate::kJsonScalar
                                                  : Predicate::kJsonValue;
    if (predicate == Predicate::kJsonValue) cursor_.AcceptKeyword("VALUE");
  } else if (cursor_.NextIsKeyword("A") || cursor_.NextIsKeyword("EMPTY")) {
    return cursor_.NotBuilt(cursor_.NextIsKeyword("A") ? "IS A SET" : "IS EMPTY");
  } else {
    return cursor_.Unexpected("NULL, TRUE, FALSE, UNKNOWN, DISTINCT FROM or JSON");
  }
  left = Make(begin, Is{std::move(left), predicate, negated});
  return Status();
}

// [index] and .field behind an operand.
Result<ExpressionPtr> ExpressionParser::ParsePostfix(ExpressionPtr operand) {
  SourceRange begin = operand->range;
  int links = 0;
  while (cursor_.NextIsSymbol("[") || cursor_.NextIsSymbol(".")) {
    SourceRange at = cursor_.Peek().range;
    if (++links > kMaxNesting) return cursor_.Fail(at, "too many accesses in one chain");
    if (cursor_.AcceptSymbol("[")) {
      ASSIGN_OR_RETURN(ExpressionPtr index, Parse());
      RETURN_IF_ERROR(cursor_.ExpectSymbol("]"));
      operand = Make(begin, ItemAccess{std::move(operand), std::move(index)});
    } else {
      cursor_.Take();
      if (cursor_.NextIsSymbol("*")) return cursor_.NotBuilt("'.*' on an expression");
      ASSIGN_OR_RETURN(Name field, ParseName(cursor_, "a field name"));
      operand = Make(begin, FieldAccess{std::move(operand), std::move(field)});
    }
  }
  deepest_child_ += links;
  return operand;
}

Result<std::vector<OrderItem>> ExpressionParser::ParseOrderItems() {
  std::vector<OrderItem> items;
  do {
    OrderItem item;
    ASSIGN_OR_RETURN(item.expression, Parse());
    item.descending = cursor_.AcceptKeyword("DESC");
    if (!item.descending) cursor_.AcceptKeyword("ASC");
    if (cursor_.AcceptKeyword("NULLS")) {
      item.nulls_first = cursor_.AcceptKeyword("FIRST");
      if (!*item.nulls_first && !cursor_.AcceptKeyword("LAST")) return cursor_.Unexpected("FIRST or LAST");
    }
    items.push_back(std::move(item));
  } while (cursor_.AcceptSymbol(","));
  return items;
}

}  // namespace caudal::sql
