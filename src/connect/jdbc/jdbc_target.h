// JdbcTarget: which table of which database a declared table stands for, and its columns as SQL sees them.
// Plain data.
#pragma once

#include <string>
#include <vector>

#include "api/table.h"
#include "base/status.h"
#include "data/schema.h"
#include "db/sqlite.h"

namespace caudal {

struct JdbcTarget {
  std::string path;      // of the database file
  std::string table;     // 'table-name'
  std::string declared;  // the table's name in the script, for messages
  Schema columns;        // the physical ones
  std::vector<int> key;  // positions in `columns`; empty = rows are only added
  bool create_table = false;

  // User error: an url of another database, a type that has no place in one.
  static Result<JdbcTarget> Of(const Table& table);

  // "jdbc:sqlite:/data/features.db#features"
  std::string origin() const { return "jdbc:sqlite:" + path + "#" + table; }
  // For errors: "table 'f' of 'features.db', sink 'features'".
  std::string frame() const;
  std::string file() const;  // `path`, absolute
  // CREATE TABLE IF NOT EXISTS …: decimals and times as exact text.
  std::string CreateStatement() const;
  // "name" TEXT: of a column without NOT NULL.
  static std::string ColumnDefinition(const Field& field);
};

}  // namespace caudal
