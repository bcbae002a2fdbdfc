// Syntax tree of statements. See ast_expression.h for the rules that hold here too.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sql/parse/ast_query.h"

namespace caudal::sql {

struct Statement;
using StatementPtr = std::unique_ptr<Statement>;

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

enum class LikeFeature {
  kAll,
  kConstraints,
  kDistribution,
  kGenerated,
  kMetadata,
  kOptions,
  kPartitions,
  kWatermarks
};
enum class LikeMerge { kIncluding, kExcluding, kOverwriting };

struct LikeClause {
  struct Rule {
    LikeMerge merge;
    LikeFeature feature;
    SourceRange range;
  };
  ObjectName source;
  std::vector<Rule> rules;
};

struct CreateTable {
  ObjectName name;
  bool temporary = false;
  bool if_not_exists = false;
  std::vector<ColumnDefinition> columns;
  std::vector<WatermarkDefinition> watermarks;
  std::vector<PrimaryKeyDefinition> primary_keys;  // more than one is an error of the binder
  std::optional<std::string> comment;
  std::vector<Name> partitioned_by;
  std::vector<Option> options;
  std::optional<LikeClause> like;
};

struct CreateView {
  ObjectName name;
  bool temporary = false;
  bool if_not_exists = false;
  std::vector<Name> columns;
  std::optional<std::string> comment;
  QueryPtr query;
};

enum class ObjectKind { kTable, kView };

struct DropObject {
  ObjectKind kind;
  bool temporary = false;
  bool if_exists = false;
  ObjectName name;
};

struct Insert {
  ObjectName target;
  std::vector<Option> options;  // of the hint /*+ OPTIONS(…) */ behind the target
  std::vector<Name> columns;
  QueryPtr query;
};

// EXECUTE STATEMENT SET BEGIN … END: one query with several sinks. Insert statements only.
struct StatementSet {
  std::vector<StatementPtr> inserts;
};

struct SelectStatement {
  QueryPtr query;
};

struct Explain {
  bool changelog_mode = false;
  StatementPtr target;  // SelectStatement, Insert or StatementSet
};

enum class ShowKind { kTables, kViews, kFunctions, kCreateTable, kCreateView, kColumns };

struct Show {
  ShowKind kind;
  ObjectName name;                  // of kCreateTable, kCreateView and kColumns
  std::optional<std::string> like;  // pattern of SHOW … [NOT] LIKE
  bool not_like = false;
};

struct Describe {
  ObjectName name;
};

struct Set {
  std::optional<Option> option;  // none: list the settings
};

struct Reset {
  std::optional<Name> key;  // none: all
};

struct Statement {
  using Node = std::variant<CreateTable, CreateView, DropObject, Insert, StatementSet, SelectStatement,
                            Explain, Show, Describe, Set, Reset>;
  SourceRange range;
  Node node;
};

}  // namespace caudal::sql
