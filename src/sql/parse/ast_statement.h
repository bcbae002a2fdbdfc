// Syntax tree of statements. See ast_expression.h for the rules that hold here too.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sql/parse/ast_catalog.h"
#include "sql/parse/ast_query.h"

namespace caudal::sql {

struct Statement;
using StatementPtr = std::unique_ptr<Statement>;

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

enum class ShowKind {
  kTables,
  kViews,
  kFunctions,
  kCreateTable,
  kCreateView,
  kColumns,
  kCatalogs,
  kDatabases,
  kCurrentCatalog,
  kCurrentDatabase,
  kCreateCatalog
};

struct Show {
  ShowKind kind;
  ObjectName name;  // of kCreate… and kColumns; of FROM, if that stands behind TABLES or DATABASES
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
                            Explain, Show, Describe, Set, Reset, CreateCatalog, DropCatalog, CreateDatabase,
                            DropDatabase, UseCatalog, UseDatabase, AlterTable>;
  SourceRange range;
  Node node;
};

}  // namespace caudal::sql
