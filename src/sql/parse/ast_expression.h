// Syntax tree of expressions and type names: what was written, not what it means.
//
// Plain data, one struct a form, children owned. Every node carries the SourceRange it was parsed from; names
// keep their case; nothing is resolved here (the Binder does that). Safe to move; not copyable.
#pragma once

#include <variant>
#include <vector>

#include "sql/parse/ast_base.h"
#include "sql/parse/ast_call.h"

namespace caudal::sql {

// a, t.a, t.a.b: the binder decides which parts are table, column and field.
struct Identifier {
  std::vector<Name> parts;
};

enum class UnaryOperator { kPlus, kMinus, kNot };

struct Unary {
  UnaryOperator op;
  ExpressionPtr operand;
};

enum class BinaryOperator {
  kOr,
  kAnd,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIsDistinctFrom,
  kIsNotDistinctFrom,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kConcat,
};

struct Binary {
  BinaryOperator op;
  ExpressionPtr left, right;
};

enum class Predicate { kNull, kTrue, kFalse, kUnknown, kJsonValue, kJsonObject, kJsonArray, kJsonScalar };

struct Is {
  ExpressionPtr operand;
  Predicate predicate;
  bool negated;
};

struct Between {
  ExpressionPtr operand, low, high;
  bool negated, symmetric;
};

struct InList {
  ExpressionPtr operand;
  ExpressionList values;
  bool negated;
};

struct Like {
  ExpressionPtr operand, pattern, escape;  // escape may be null
  bool negated;
  bool similar;  // SIMILAR TO
};

struct Case {
  struct When {
    ExpressionList conditions;  // more than one only in the simple form: WHEN 1, 2 THEN
    ExpressionPtr result;
  };
  ExpressionPtr operand;  // null for the searched form
  std::vector<When> whens;
  ExpressionPtr otherwise;  // may be null
};

struct Cast {
  ExpressionPtr operand;
  TypeName type;
  bool is_try;
};

struct RowConstructor {
  ExpressionList fields;
};
struct ArrayConstructor {
  ExpressionList elements;
};
struct MapConstructor {
  ExpressionList entries;  // key, value, key, value
};

// a[i].
struct ItemAccess {
  ExpressionPtr collection, index;
};

// (expression).field; a plain a.b is an Identifier.
struct FieldAccess {
  ExpressionPtr operand;
  Name field;
};

struct Expression {
  using Node = std::variant<Identifier, Literal, IntervalLiteral, Unary, Binary, Is, Between, InList, Like,
                            Case, Cast, Symbol, Call, JsonCall, JsonConstructor, RowConstructor,
                            ArrayConstructor, MapConstructor, ItemAccess, FieldAccess>;
  SourceRange range;
  Node node;
};

}  // namespace caudal::sql
