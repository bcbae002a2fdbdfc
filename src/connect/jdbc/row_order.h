// RowOrder: the columns by which the rows of a database table are read, so that a reader can go on behind a
// row though the table grew: the rowid, else the primary key. And their values in one row, as a position
// keeps them.
//
// The thread that owns the connection.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/sqlite.h"

namespace caudal {

struct RowOrder {
  std::vector<std::string> columns;  // as SQL writes them; none: a view, which is read in its own order
  bool by_rowid = false;             // the one column is the rowid

  static Result<RowOrder> Of(Sqlite* database, const std::string& table);

  enum class From { kStart, kBehindKey, kBehindCount };
  // A query that gives the order's columns, then `names`. Its parameters: the key's values; or the number of
  // rows to leave out.
  std::string Select(const std::string& table, const std::vector<std::string>& names, From from) const;
};

// The first `columns` values of the row at hand.
nlohmann::json ReadKey(const SqliteStatement& row, size_t columns);
// Binds a key's values to the first parameters; texts go to `texts`, which must stay. False: it is no such
// key.
bool BindKey(const nlohmann::json& key, size_t columns, SqliteStatement* statement,
             std::vector<std::string>* texts);

}  // namespace caudal
