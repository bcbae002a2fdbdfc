// Syntax tree, the leaves: names, type names, literals. See ast_expression.h for the rules that hold here
// too.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/parse/source_text.h"

namespace caudal::sql {

struct Name {
  std::string text;
  SourceRange range;
};

struct TypeField;

// INT, DECIMAL(10, 2), ROW<a INT>, ARRAY<STRING>, MAP<k, v>, …; `name` is upper case and the short form of
// synonyms (INTEGER → INT, CHARACTER VARYING → VARCHAR, TIMESTAMP WITH LOCAL TIME ZONE → TIMESTAMP_LTZ).
struct TypeName {
  SourceRange range;
  std::string name;
  std::optional<int> precision;  // or length
  std::optional<int> scale;
  bool not_null = false;
  std::vector<TypeField> children;  // fields of ROW; element of ARRAY and MULTISET; key and value of MAP
};

struct TypeField {
  Name name;  // empty unless the parent is a ROW
  TypeName type;
  std::optional<std::string> comment;
};

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;
using ExpressionList = std::vector<ExpressionPtr>;

enum class LiteralKind {
  kNull,
  kTrue,
  kFalse,
  kUnknown,
  kInteger,
  kDecimal,
  kApproximate,
  kString,
  kBinary,
  kDate,
  kTime,
  kTimestamp
};

struct Literal {
  LiteralKind kind;
  std::string text;  // as in the token: digits, or the content of the quotes
};

enum class TimeUnit { kYear, kQuarter, kMonth, kWeek, kDay, kHour, kMinute, kSecond };

// INTERVAL [-] 'text' from(precision) [TO to(fraction)].
struct IntervalLiteral {
  bool negative = false;
  std::string text;
  TimeUnit from;
  std::optional<TimeUnit> to;
  std::optional<int> precision;
  std::optional<int> fraction;
};

}  // namespace caudal::sql
