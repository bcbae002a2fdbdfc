// OpsTable: one table of the operations store, described as data: its SQLite form and its form in caudal's
// SQL (ops.<name>) come from the same list of columns.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/table.h"

namespace caudal {

struct OpsColumn {
  enum class Kind : uint8_t { kText, kInteger, kReal, kTime, kBoolean };
  std::string_view name;
  Kind kind = Kind::kInteger;
};

struct OpsTable {
  std::string_view name;
  std::vector<OpsColumn> columns;
  std::vector<int> key;  // positions

  std::string CreateStatement() const;
  // INSERT with one parameter a column; a row of the same key is replaced, or stays if `only_new`.
  std::string InsertStatement(bool only_new = false) const;
  // As caudal's SQL sees it: the table ops.<name> of the database file.
  Table AsTable(const std::string& database_path) const;
};

// Every table of the store, in the order of the reference (docs/operations.md).
std::span<const OpsTable> OpsTables();
const OpsTable& FindOpsTable(std::string_view name);  // REQUIRES: it is in the list

}  // namespace caudal
