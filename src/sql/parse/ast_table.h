// Syntax tree of what a table is made of. See ast_expression.h for the rules that hold here too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sql/parse/ast_query.h"

namespace caudal::sql {

// A column is physical (type), computed (AS expression) or metadata (type METADATA [FROM 'key'] [VIRTUAL]).
struct ColumnDefinition {
  Name name;
  SourceRange range;
  std::optional<TypeName> type;
  ExpressionPtr computed;  // null unless computed
  bool metadata = false;
  std::optional<std::string> metadata_key;  // of METADATA FROM 'key'
  bool is_virtual = false;
  std::optional<std::string> comment;
};

struct WatermarkDefinition {
  SourceRange range;
  std::vector<Name> column;  // more than one part names a field of a ROW
  ExpressionPtr expression;
};

struct PrimaryKeyDefinition {
  SourceRange range;
  std::optional<Name> constraint;
  std::vector<Name> columns;
  bool not_enforced = false;
};

}  // namespace caudal::sql
