// Catalog: the one place where a name becomes a table, a view, a function or a connector; the binder's only
// door.
//
// One for a session. Lists of connectors, scalar and aggregate functions are wired by server/.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/connector.h"
#include "api/table.h"
#include "base/sql_position.h"
#include "base/status.h"
#include "expr/aggregate_function.h"
#include "expr/scalar_function.h"

namespace caudal {

// A view keeps its text: it is bound anew wherever it is used.
struct View {
  std::string name;
  std::vector<std::string> columns;  // CREATE VIEW v (a, b); empty = the query's own names
  std::string query;                 // the SELECT's text
  SqlPosition position;              // of `query`, for errors
};

class Catalog {
 public:
  explicit Catalog(std::span<const Connector* const> connectors) : connectors_(connectors) {}

  Status AddTable(Table table, bool if_not_exists = false);  // User error if the name is taken
  Status AddView(View view, bool if_not_exists = false);
  Status Drop(std::string_view name, bool view, bool if_exists);
  const Table* FindTable(std::string_view name) const;  // null if there is none; valid until the next change
  const View* FindView(std::string_view name) const;
  std::vector<std::string> TableNames() const;
  std::vector<std::string> ViewNames() const;

  const Connector* FindConnector(std::string_view name) const;
  std::span<const Connector* const> connectors() const { return connectors_; }

  // SET and RESET.
  Options& settings() { return settings_; }
  const Options& settings() const { return settings_; }

 private:
  std::span<const Connector* const> connectors_;
  std::map<std::string, Table, std::less<>> tables_;
  std::map<std::string, View, std::less<>> views_;
  Options settings_;
};

}  // namespace caudal
