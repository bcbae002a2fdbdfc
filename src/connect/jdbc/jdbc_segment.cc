#include "connect/jdbc/jdbc_segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "connect/jdbc/database_cell.h"

namespace caudal {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "CDLJDBC1";

struct Statements {
  std::string upsert;
  std::string remove;
};

Statements MakeStatements(const Json& header) {
  std::string names, marks, updates, key, where;
  const auto& keys = header.at("key");
  for (const auto& column : header.at("columns")) {
    const std::string name = QuoteSqliteName(column.get<std::string>());
    names += (names.empty() ? "" : ", ") + name;
    marks += marks.empty() ? "?" : ", ?";
    if (std::find(keys.begin(), keys.end(), column) != keys.end()) continue;
    updates += fmt::format("{}{} = excluded.{}", updates.empty() ? "" : ", ", name, name);
  }
  for (const auto& column : keys) {
    const std::string name = QuoteSqliteName(column.get<std::string>());
    key += (key.empty() ? "" : ", ") + name;
    where += fmt::format("{}{} = ?", where.empty() ? "" : " AND ", name);
  }
  const std::string table = QuoteSqliteName(header.at("table").get<std::string>());
  Statements statements;
  statements.upsert = fmt::format("INSERT INTO {} ({}) VALUES ({})", table, names, marks);
  if (!key.empty()) {
    statements.upsert +=
        fmt::format(" ON CONFLICT ({}) DO {}", key, updates.empty() ? "NOTHING" : "UPDATE SET " + updates);
    statements.remove = fmt::format("DELETE FROM {} WHERE {}", table, where);
  }
  return statements;
}

Status ApplyRecords(SegmentRecords* records, const Json& header, const SegmentReference& reference,
                    Sqlite* database) {
  const Statements sql = MakeStatements(header);
  const int columns = static_cast<int>(header.at("columns").size());
  const int keys = static_cast<int>(header.at("key").size());
  ASSIGN_OR_RETURN(SqliteStatement upsert, database->Prepare(sql.upsert));
  ASSIGN_OR_RETURN(SqliteStatement remove, database->Prepare(keys > 0 ? sql.remove : "SELECT 1"));
  SegmentRecord record;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, records->Next(&record));
    if (!more) return Status();
    if (record.is_delete && keys == 0) return records->Damaged();
    SqliteStatement& statement = record.is_delete ? remove : upsert;
    size_t at = 0;
    for (int i = 0; i < (record.is_delete ? keys : columns); ++i) {
      if (!BindCell(record.cells, &at, i, &statement)) return records->Damaged();
    }
    if (at != record.cells.size()) return records->Damaged();
    RETURN_IF_ERROR(statement.Run());
    // The acknowledgement: a trigger may have thrown the row away.
    if (!record.is_delete && keys < columns && database->changes() != 1) {
      return Status::Data(fmt::format("table '{}' did not take row {} of {}",
                                      header.at("table").get<std::string>(), records->read(),
                                      reference.records))
          .Hint("look for a trigger that ignores rows: every row that is given must be kept");
    }
  }
}

}  // namespace

SegmentForm JdbcSegmentForm(const JdbcTarget& target) {
  Json columns = Json::array(), key = Json::array();
  for (const Field& field : target.columns.fields) columns.push_back(field.name);
  for (const int column : target.key) key.push_back(target.columns[column].name);
  SegmentForm form;
  form.connector = "jdbc";
  form.magic = kMagic;
  form.header = Json{{"table", target.table}, {"columns", columns}, {"key", key}}.dump();
  form.origin = fmt::format("jdbc:sqlite:{}#{}", target.file(), target.table);
  form.former_origin = target.origin();
  form.declared = target.declared;
  form.key = target.key;
  return form;
}

Status ApplySegment(SegmentRecords* records, const SegmentReference& reference, Sqlite* database) {
  RETURN_IF_ERROR(records->Open(kMagic));
  const Json header = Json::parse(records->header(), nullptr, false);
  if (!header.is_object() || !header.contains("table") || !header.contains("columns") ||
      !header.contains("key")) {
    return records->Damaged();
  }
  return ApplyRecords(records, header, reference, database);
}

}  // namespace caudal
