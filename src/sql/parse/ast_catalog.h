// Syntax tree of statements about catalogs, databases and the tables in them. See ast_expression.h for the
// rules that hold here too.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sql/parse/ast_table.h"

namespace caudal::sql {

struct CreateCatalog {
  Name name;
  bool if_not_exists = false;
  std::vector<Option> options;
};

struct DropCatalog {
  Name name;
  bool if_exists = false;
};

struct CreateDatabase {
  ObjectName name;  // [catalog.]database
  bool if_not_exists = false;
};

struct DropDatabase {
  ObjectName name;
  bool if_exists = false;
  bool cascade = false;
};

struct UseCatalog {
  Name name;
};

struct UseDatabase {
  ObjectName name;
};

// Where ADD and MODIFY put a column: FIRST, AFTER a, or nothing.
struct ColumnPosition {
  bool first = false;
  std::optional<Name> after;
};

struct AlterTable {
  struct Column {
    ColumnDefinition definition;
    ColumnPosition position;
  };
  struct Add {
    std::vector<Column> columns;
    std::vector<PrimaryKeyDefinition> primary_keys;
  };
  struct Modify {
    std::vector<Column> columns;
    std::vector<PrimaryKeyDefinition> primary_keys;
  };
  struct Drop {
    std::vector<Name> columns;
    bool primary_key = false;
  };
  struct RenameColumn {
    Name name;
    Name to;
  };
  struct RenameTo {
    ObjectName to;
  };
  struct SetOptions {
    std::vector<Option> options;
  };
  struct ResetOptions {
    std::vector<Name> names;
  };
  using Change = std::variant<Add, Modify, Drop, RenameColumn, RenameTo, SetOptions, ResetOptions>;

  ObjectName name;
  bool if_exists = false;
  Change change;
};

}  // namespace caudal::sql
