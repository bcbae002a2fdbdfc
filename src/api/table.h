// Table: a declared table, resolved: what CREATE TABLE left in the catalog. Plain data.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/schema.h"
#include "expr/expr.h"

namespace caudal {

using Options = std::map<std::string, std::string, std::less<>>;

struct TableColumn {
  enum class Kind : uint8_t {
    kPhysical,  // stored by the connector
    kComputed,  // `computed` over the columns before and after it that are not computed
    kMetadata,  // read from (and written to, unless virtual) the connector under `metadata_key`
  };
  std::string name;
  Type type;
  Kind kind = Kind::kPhysical;
  std::optional<Expr> computed;  // columns refer to positions in Table::columns
  std::string computed_text;     // `computed` as the user wrote it; for showing
  std::string metadata_key;
  bool is_virtual = false;
  std::string comment;
};

struct WatermarkSpec {
  int column = 0;         // the rowtime attribute's position
  Expr expr;              // over Table::columns; its value, in ms, is the clock's candidate
  std::string text = {};  // `expr` as the user wrote it; for showing
};

struct Table {
  std::string name;
  std::vector<TableColumn> columns;
  std::optional<WatermarkSpec> watermark;
  std::vector<int> primary_key;     // positions; empty = none
  std::vector<int> partition_keys;  // positions
  Options options;                  // WITH (…), "connector" among them
  std::string comment;

  // The option's value, or `fallback` if it is not set.
  std::string_view option(std::string_view key, std::string_view fallback = "") const {
    auto found = options.find(key);
    return found == options.end() ? fallback : std::string_view(found->second);
  }
  // The column of that name, null if there is none.
  const TableColumn* FindColumn(std::string_view column_name) const {
    for (const TableColumn& column : columns) {
      if (column.name == column_name) return &column;
    }
    return nullptr;
  }
  // All columns, as a SELECT sees them.
  Schema schema() const {
    Schema all;
    for (const TableColumn& column : columns) all.fields.push_back({column.name, column.type});
    return all;
  }
  // What the connector reads from the wire, in order.
  Schema physical_schema() const {
    Schema physical;
    for (const TableColumn& column : columns) {
      if (column.kind == TableColumn::Kind::kPhysical) physical.fields.push_back({column.name, column.type});
    }
    return physical;
  }
};

}  // namespace caudal
