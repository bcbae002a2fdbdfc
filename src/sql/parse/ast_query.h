// Syntax tree of queries. See ast_expression.h for the rules that hold here too.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sql/parse/ast_expression.h"

namespace caudal::sql {

struct Query;
using QueryPtr = std::unique_ptr<Query>;

// 'key' = 'value' in WITH (…), SET and hints.
struct Option {
  std::string key, value;
  SourceRange key_range, value_range;
};

// catalog.database.table, or less.
struct ObjectName {
  std::vector<Name> parts;
  SourceRange range;
};

struct NamedTable {
  ObjectName name;
  std::vector<Option> options;  // of the hint /*+ OPTIONS(…) */
};

struct DerivedTable {
  QueryPtr query;
};

// TABLE t [PARTITION BY …] [ORDER BY …], or (query) in its place.
struct TableArgument {
  ObjectName table;  // empty when `query` is set
  QueryPtr query;
  bool partitioned = false;
  ExpressionList partition_by;
  std::vector<OrderItem> order_by;
};

// DESCRIPTOR(a, b).
struct Descriptor {
  std::vector<Name> columns;
};

struct TableFunctionArgument {
  Name name;  // empty for a positional argument
  SourceRange range;
  std::variant<TableArgument, Descriptor, ExpressionPtr> value;
};

// TABLE(f(…)), or f(…) alone: window table functions and process table functions.
struct TableFunction {
  Name name;
  std::vector<TableFunctionArgument> arguments;
};

struct TableReference {
  SourceRange range;
  std::variant<NamedTable, DerivedTable, TableFunction> node;
  ExpressionPtr system_time;  // FOR SYSTEM_TIME AS OF …; null without
  SourceRange system_time_range;
  std::optional<Name> alias;
  std::vector<Name> column_aliases;
};

// [INNER | LEFT [OUTER]] JOIN right ON condition.
struct Join {
  SourceRange range;  // of the words
  bool left = false;  // rows without a match stay
  TableReference right;
  ExpressionPtr condition;
};

// One entry of the select list: an expression with or without a name, or [qualifier.]*.
struct SelectItem {
  SourceRange range;
  bool star = false;
  std::vector<Name> star_qualifier;
  ExpressionPtr expression;  // null for a star
  std::optional<Name> alias;
};

struct Select {
  SourceRange range;  // of the whole block; `keyword` is the word SELECT alone
  SourceRange keyword;
  bool distinct = false;
  SourceRange distinct_range;
  std::vector<SelectItem> items;
  std::optional<TableReference> from;
  std::vector<Join> joins;
  ExpressionPtr where;
  std::optional<SourceRange> group_by_range;  // set when there is a GROUP BY, also the empty GROUP BY ()
  ExpressionList group_by;
  ExpressionPtr having;
};

struct Values {
  SourceRange range;
  std::vector<ExpressionList> rows;
};

// left UNION [ALL] right.
struct Union {
  SourceRange range;  // of the words
  bool all = false;
  QueryPtr left, right;
};

struct CommonTable {
  Name name;
  std::vector<Name> columns;
  QueryPtr query;
};

struct Query {
  SourceRange range;
  std::vector<CommonTable> with;
  std::variant<Select, Values, Union, QueryPtr> body;  // QueryPtr: a query in parentheses
  std::vector<OrderItem> order_by;
  SourceRange order_by_range;
  std::optional<int64_t> limit, offset;
  SourceRange limit_range;
};

}  // namespace caudal::sql
