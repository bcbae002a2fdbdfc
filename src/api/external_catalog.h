// ExternalCatalog: databases and tables that live outside of the session, as CREATE CATALOG names them.
//
// Made by a Connector, owned by the session's Catalog, called by its thread; every call may block. What it is
// asked for is in the outside world at once: it keeps no copy.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/table.h"
#include "base/status.h"

namespace caudal {

// What ALTER TABLE asks for, one change after the other.
struct ColumnPlace {
  bool first = false;
  std::string after;  // empty and not first: at the end, or where it is
};
struct AddColumn {
  TableColumn column;
  ColumnPlace place;
};
struct ModifyColumn {
  TableColumn column;
  ColumnPlace place;
  bool comments = false;  // column.comment is to be its comment; else the old one stays
};
struct DropColumn {
  std::string name;
};
struct RenameColumn {
  std::string name;
  std::string to;
};
struct SetKey {
  std::vector<std::string> columns;  // none: there is to be no key
};
struct SetOptions {
  Options options;
};
struct ResetOptions {
  std::vector<std::string> names;
};
using TableChange =
    std::variant<AddColumn, ModifyColumn, DropColumn, RenameColumn, SetKey, SetOptions, ResetOptions>;

// Where a name is, all parts said.
struct ObjectPath {
  std::string catalog;
  std::string database;
  std::string name;
  // "lake.db.t"; a part with a dot in it stands in backquotes.
  std::string ToString() const;
  std::string Quoted() const;  // "`lake`.`db`.`t`"
};

// A table as it is outside.
struct ExternalTable {
  ObjectPath path;  // for the caller to fill in
  Table table;      // its options name what reads and writes it, but not what the catalog was declared with
  Options own;      // what CREATE TABLE would say to make it anew; for showing
};

class ExternalCatalog {
 public:
  virtual ~ExternalCatalog() = default;

  // Where names of one part are, once the catalog is in use. There, or made with its first table.
  virtual std::string default_database() const = 0;
  virtual Result<std::vector<std::string>> Databases() = 0;
  virtual Status CreateDatabase(const std::string& name) = 0;  // User error if it is there
  virtual Status DropDatabase(const std::string& name) = 0;    // User error if it is not there, or has tables
  virtual Result<std::vector<std::string>> Tables(const std::string& database) = 0;

  // Nothing if there is no such table. The table's name is for the caller to choose.
  virtual Result<std::optional<ExternalTable>> FindTable(const std::string& database,
                                                         const std::string& name) = 0;
  // What CREATE TABLE could make; asks nobody outside. `table` has the options of both statements. User error
  // that quotes an option or column.
  virtual Status CheckTable(const Table& table) const = 0;
  // What FindTable would give once CreateTable had made it; asks nobody outside. `table` as in CheckTable.
  virtual Result<ExternalTable> FutureTable(const std::string& database, const std::string& name,
                                            const Table& table) const = 0;
  // User error if the database is not there, or the table is.
  virtual Status CreateTable(const std::string& database, const std::string& name, const Table& table) = 0;
  virtual Status DropTable(const std::string& database, const std::string& name) = 0;
  virtual Status RenameTable(const std::string& database, const std::string& name, const std::string& to) = 0;
  // All changes or none.
  virtual Status AlterTable(const std::string& database, const std::string& name,
                            const std::vector<TableChange>& changes) = 0;
};

}  // namespace caudal
