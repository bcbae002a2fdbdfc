#include "connect/jdbc/jdbc_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "connect/jdbc/jdbc_segment.h"

namespace caudal {
namespace {

// Column names, in lower case, as SQLite compares them.
Result<std::vector<std::string>> ColumnNames(const std::string& table, Sqlite* database) {
  ASSIGN_OR_RETURN(SqliteStatement find, database->Prepare("SELECT lower(name) FROM pragma_table_xinfo(?)"));
  find.BindText(0, table);
  std::vector<std::string> names;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, find.Step());
    if (!more) return names;
    names.emplace_back(find.text(0));
  }
}

std::string Lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

Status NoTable(const JdbcTarget& target) {
  return Status::User(fmt::format("there is no table '{}' in the database", target.table))
      .Hint("create it, or let caudal do it: 'caudal.create-table' = 'true'");
}

}  // namespace

Status CheckTable(const JdbcTarget& target, Sqlite* database) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ColumnNames(target.table, database));
  if (names.empty()) return NoTable(target);
  for (const Field& field : target.columns.fields) {
    if (std::find(names.begin(), names.end(), Lower(field.name)) != names.end()) continue;
    return Status::User(
               fmt::format("table '{}' in the database has no column '{}'", target.table, field.name))
        .Hint(fmt::format(
            "add it there: ALTER TABLE {} ADD COLUMN {}; or leave it out of the declaration of '{}'",
            QuoteSqliteName(target.table), target.ColumnDefinition(field), target.declared));
  }
  // SQLite itself says whether the statements of a segment fit the table: a unique key above all.
  const SegmentReference none;
  SegmentRecords records(EmptySegment(JdbcSegmentForm(target)), none);
  return ApplySegment(&records, none, database);
}

Status CheckDatabase(const JdbcTarget& target, FileSystem* files) {
  ASSIGN_OR_RETURN(const bool exists, files->Exists(target.path));
  if (!exists) {
    if (target.create_table) return Status();
    return Status::User(fmt::format("there is no database '{}'", target.path))
        .Hint("create it with its table, or let caudal do it: 'caudal.create-table' = 'true'");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Sqlite> database,
                   Sqlite::Open(target.path, Sqlite::Mode::kReadOnly));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ColumnNames(target.table, database.get()));
  if (names.empty() && target.create_table) return Status();
  return CheckTable(target, database.get());
}

}  // namespace caudal
