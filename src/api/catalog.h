// Catalog: the one place where a name becomes a table, a view, a function or a connector; the binder's only
// door.
//
// One for a session. Lists of connectors, scalar and aggregate functions are wired by server/.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/connector.h"
#include "api/external_catalogs.h"
#include "api/table.h"
#include "base/sql_position.h"
#include "base/status.h"
#include "expr/aggregate_function.h"
#include "expr/scalar_function.h"

namespace caudal {

inline constexpr std::string_view kDefaultCatalog = "default_catalog";
inline constexpr std::string_view kDefaultDatabase = "default_database";

// What names of one and two parts begin with.
struct CurrentDatabase {
  std::string catalog{kDefaultCatalog};
  std::string database{kDefaultDatabase};
  bool is_session() const { return catalog == kDefaultCatalog; }  // nothing of it is outside
};

// A view keeps its text: it is bound anew wherever it is used.
struct View {
  std::string name;
  std::vector<std::string> columns;  // CREATE VIEW v (a, b); empty = the query's own names
  std::string query;                 // the SELECT's text
  SqlPosition position;              // of `query`, for errors
  CurrentDatabase current;           // when it was made
};

class Catalog {
 public:
  explicit Catalog(std::span<const Connector* const> connectors) : connectors_(connectors) {}

  Status AddTable(Table table, bool if_not_exists = false);  // User error if the name is taken
  Status AddView(View view, bool if_not_exists = false);
  Status Drop(std::string_view name, bool view, bool if_exists);
  // Null if there is none; valid until the next change. Tables of catalogs outside are found once
  // externals() has loaded them.
  const Table* FindTable(std::string_view name) const;
  bool TableIsOfSession(std::string_view name) const { return tables_.contains(name); }
  const View* FindView(std::string_view name) const;
  std::vector<std::string> TableNames() const;
  std::vector<std::string> ViewNames() const;

  const Connector* FindConnector(std::string_view name) const;
  std::span<const Connector* const> connectors() const { return connectors_; }

  // Catalogs outside, by CREATE CATALOG, and the one that USE has chosen. A name in them is all its parts
  // (ObjectPath), one of the session its last.
  ExternalCatalogs& externals() const { return *externals_; }
  const CurrentDatabase& current() const { return current_; }
  void Use(CurrentDatabase current) { current_ = std::move(current); }
  // What catalogs are made with; both outlive the session. Null: those of the process.
  void SetSurroundings(FileSystem* files, Env* env);
  const ConnectorContext& surroundings() const { return surroundings_; }

  // SET and RESET.
  Options& settings() { return settings_; }
  const Options& settings() const { return settings_; }

 private:
  std::span<const Connector* const> connectors_;
  std::map<std::string, Table, std::less<>> tables_;
  std::map<std::string, View, std::less<>> views_;
  std::unique_ptr<ExternalCatalogs> externals_ = std::make_unique<ExternalCatalogs>();
  CurrentDatabase current_;
  ConnectorContext surroundings_;
  Options settings_;
};

}  // namespace caudal
