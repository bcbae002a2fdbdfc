#include "connect/jdbc/jdbc_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "api/boolean_option.h"

namespace caudal {
namespace {

constexpr std::string_view kSqliteUrl = "jdbc:sqlite:";

// The declared type of a column that we create; empty if the type has no place in a database.
std::string_view SqliteColumnType(const Type& type) {
  switch (type.physical()) {
    case Physical::kBool:
    case Physical::kInt8:
    case Physical::kInt16:
      return "INTEGER";
    case Physical::kInt32:
      return type.id() == TypeId::kInt ? "INTEGER" : type.id() == TypeId::kIntervalYearMonth ? "" : "TEXT";
    case Physical::kInt64:
      return type.id() == TypeId::kBigInt ? "INTEGER" : type.id() == TypeId::kIntervalDayTime ? "" : "TEXT";
    case Physical::kInt128:
      return "TEXT";
    case Physical::kFloat:
    case Physical::kDouble:
      return "REAL";
    case Physical::kString:
      return type.is_binary() ? "BLOB" : "TEXT";
    default:
      return "";
  }
}

}  // namespace

Result<JdbcTarget> JdbcTarget::Of(const Table& table) {
  JdbcTarget target;
  const std::string_view url = table.option("url");
  if (!url.starts_with(kSqliteUrl) || url.size() == kSqliteUrl.size()) {
    return Status::User(fmt::format("table '{}': 'url' = '{}' is not of a database that caudal knows",
                                    table.name, url))
        .Hint("write 'url' = 'jdbc:sqlite:/path/file.db'");
  }
  target.path = url.substr(kSqliteUrl.size());
  target.table = table.option("table-name");
  target.declared = table.name;
  target.create_table = BooleanOption(table, "caudal.create-table");
  std::vector<int> position(table.columns.size(), -1);  // of each column among the physical ones
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const TableColumn& column = table.columns[i];
    if (column.kind != TableColumn::Kind::kPhysical) continue;
    if (SqliteColumnType(column.type).empty()) {
      return Status::User(fmt::format("column '{}' of table '{}': connector 'jdbc' cannot hold {}",
                                      column.name, table.name, column.type.ToString()))
          .Hint("cast it to STRING");
    }
    position[i] = target.columns.size();
    target.columns.fields.push_back({column.name, column.type});
  }
  for (const int column : table.primary_key) target.key.push_back(position[static_cast<size_t>(column)]);
  return target;
}

std::string JdbcTarget::frame() const {
  return fmt::format("table '{}' of '{}', sink '{}'", table, path, declared);
}

std::string JdbcTarget::ColumnDefinition(const Field& field) {
  return fmt::format("{} {}", QuoteSqliteName(field.name), SqliteColumnType(field.type));
}

std::string JdbcTarget::file() const { return std::filesystem::absolute(path).lexically_normal().string(); }

std::string JdbcTarget::CreateStatement() const {
  std::string sql = fmt::format("CREATE TABLE IF NOT EXISTS {} (", QuoteSqliteName(table));
  for (int i = 0; i < columns.size(); ++i) {
    const bool in_key = std::find(key.begin(), key.end(), i) != key.end();
    sql += fmt::format("{}{}{}", i == 0 ? "" : ", ", ColumnDefinition(columns[i]),
                       in_key || !columns[i].type.nullable() ? " NOT NULL" : "");
  }
  for (size_t i = 0; i < key.size(); ++i) {
    sql += (i == 0 ? ", PRIMARY KEY (" : ", ") + QuoteSqliteName(columns[key[i]].name);
  }
  // One b-tree instead of two for a table that is only reached by its key.
  return sql + (key.empty() ? ")" : ")) WITHOUT ROWID");
}

}  // namespace caudal
