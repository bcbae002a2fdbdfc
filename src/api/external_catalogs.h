// ExternalCatalogs: the catalogs of a session that live outside, and what its statements found in them.
//
// Part of the session's Catalog; one thread. A table is asked for once in a statement and then kept, so that
// a query sees one state of it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/external_catalog.h"
#include "api/table.h"
#include "base/status.h"

namespace caudal {

class ExternalCatalogs {
 public:
  // Changes are only remembered, so that what comes behind them in the script can be planned.
  void set_plan_only() { plan_only_ = true; }

  // `declared`: the options of CREATE CATALOG, as its tables get them.
  Status Add(const std::string& name, std::unique_ptr<ExternalCatalog> catalog, Options declared);
  Status Drop(const std::string& name);
  std::vector<std::string> Names() const;
  // Null if there is none.
  ExternalCatalog* Find(std::string_view name);
  // REQUIRES: Find(name) is not null, here and below.
  const Options& DeclaredOptions(std::string_view name) const;
  Result<bool> HasDatabase(const std::string& catalog, const std::string& database);

  // Asks for the table unless this statement has done so. OK, too, if there is none.
  Status Load(const ObjectPath& path);
  // By ObjectPath::ToString(); null if nothing of that name was found.
  const ExternalTable* FindLoaded(std::string_view name) const;
  // The next statement asks anew.
  void ForgetLoaded();

  Status CreateDatabase(const std::string& catalog, const std::string& database);
  // `cascade`: with its tables.
  Status DropDatabase(const std::string& catalog, const std::string& database, bool cascade);
  Status CheckTable(const ObjectPath& path, Table table) const;  // before it is made
  Status CreateTable(const ObjectPath& path, Table table);
  Status DropTable(const ObjectPath& path);
  Status RenameTable(const ObjectPath& path, const std::string& to);
  Status AlterTable(const ObjectPath& path, const std::vector<TableChange>& changes);
  // What reads and writes a table: its options and those of the catalog.
  void AddDeclaredOptions(const ObjectPath& path, Table* table) const;

 private:
  struct Entry {
    std::unique_ptr<ExternalCatalog> catalog;
    Options declared;
  };
  const Entry& EntryOf(std::string_view name) const { return entries_.find(name)->second; }
  // The table that a catalog has there, with what the session adds to it.
  ExternalTable AtPath(const ObjectPath& path, ExternalTable found) const;

  std::map<std::string, Entry, std::less<>> entries_;
  // By ObjectPath::ToString(); nothing: there is no such table.
  using Tables = std::map<std::string, std::optional<ExternalTable>, std::less<>>;
  Tables loaded_;
  bool plan_only_ = false;
  Tables planned_;                                        // made and dropped by the script, in plan only
  std::set<std::string, std::less<>> planned_databases_;  // "lake.db"
};

}  // namespace caudal
