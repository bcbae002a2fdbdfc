#include "connect/jdbc/row_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/durable_name.h"

namespace caudal {
namespace {

using Json = nlohmann::json;

struct TableColumns {
  std::vector<std::string> names;        // in lower case, as SQLite compares them
  std::vector<std::string> primary_key;  // quoted; none if one of them may be NULL
};

Result<TableColumns> ColumnsOf(Sqlite* database, const std::string& table) {
  ASSIGN_OR_RETURN(SqliteStatement find,
                   database->Prepare("SELECT lower(name), name, pk, \"notnull\" FROM pragma_table_xinfo(?) "
                                     "ORDER BY pk"));
  find.BindText(0, table);
  TableColumns columns;
  bool nullable = false;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, find.Step());
    if (!more) break;
    columns.names.emplace_back(find.text(0));
    if (find.integer(2) == 0) continue;
    columns.primary_key.push_back(QuoteSqliteName(find.text(1)));
    nullable = nullable || find.integer(3) == 0;
  }
  if (nullable) columns.primary_key.clear();
  return columns;
}

}  // namespace

Result<RowOrder> RowOrder::Of(Sqlite* database, const std::string& table) {
  ASSIGN_OR_RETURN(TableColumns columns, ColumnsOf(database, table));
  // Each name of the rowid may be a column of its own.
  for (const char* rowid : {"rowid", "_rowid_", "oid"}) {
    if (std::ranges::find(columns.names, rowid) != columns.names.end()) continue;
    if (database->Prepare(fmt::format("SELECT {} FROM {}", rowid, QuoteSqliteName(table))).ok())
      return RowOrder{{rowid}, true};
  }
  return RowOrder{std::move(columns.primary_key), false};
}

std::string RowOrder::Select(const std::string& table, const std::vector<std::string>& names,
                             From from) const {
  std::vector<std::string> selected = columns;
  for (const std::string& name : names) selected.push_back(QuoteSqliteName(name));
  if (selected.empty()) selected.push_back("0");
  std::string sql = fmt::format("SELECT {} FROM {}", fmt::join(selected, ", "), QuoteSqliteName(table));
  const std::string key = fmt::format("{}", fmt::join(columns, ", "));
  if (from == From::kBehindKey) {
    sql += fmt::format(" WHERE ({}) > ({})", key,
                       fmt::join(std::vector<std::string>(columns.size(), "?"), ", "));
  }
  if (!columns.empty()) sql += " ORDER BY " + key;
  if (from == From::kBehindCount) sql += " LIMIT -1 OFFSET ?";
  return sql;
}

Json ReadKey(const SqliteStatement& row, size_t columns) {
  Json key = Json::array();
  for (int i = 0; i < static_cast<int>(columns); ++i) {
    switch (row.storage(i)) {
      case SqliteStatement::Storage::kInteger:
        key.push_back(row.integer(i));
        break;
      case SqliteStatement::Storage::kReal:
        key.push_back({{"real", fmt::format("{}", row.real(i))}});
        break;
      case SqliteStatement::Storage::kText:
        key.push_back({{"text", ToDurableName(row.text(i))}});
        break;
      case SqliteStatement::Storage::kBlob:
        key.push_back({{"blob", ToDurableName(row.blob(i))}});
        break;
      case SqliteStatement::Storage::kNull:
        key.push_back(nullptr);
    }
  }
  return key;
}

bool BindKey(const Json& key, size_t columns, SqliteStatement* statement, std::vector<std::string>* texts) {
  if (!key.is_array() || key.size() != columns) return false;
  texts->clear();
  texts->reserve(columns);  // so that none moves
  for (int i = 0; i < static_cast<int>(columns); ++i) {
    const Json& value = key[static_cast<size_t>(i)];
    if (value.is_number_integer()) {
      statement->BindInteger(i, value.get<int64_t>());
      continue;
    }
    if (!value.is_object() || value.size() != 1 || !value.begin()->is_string()) return false;
    const std::string text = value.begin()->get<std::string>();
    if (value.begin().key() == "real") {
      statement->BindReal(i, std::strtod(text.c_str(), nullptr));
    } else if (value.begin().key() == "text") {
      statement->BindText(i, texts->emplace_back(FromDurableName(text)));
    } else {
      statement->BindBlob(i, texts->emplace_back(FromDurableName(text)));
    }
  }
  return true;
}

}  // namespace caudal
