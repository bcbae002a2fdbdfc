#include "connect/jdbc/jdbc_lookup.h"

#include <fmt/format.h>

#include "api/segment/cell.h"
#include "connect/jdbc/database_cell.h"
#include "data/text/utf8_text.h"

namespace caudal {

Result<std::unique_ptr<LookupReader>> JdbcLookup::Make(const Table& table, const LookupRequest& request) {
  ASSIGN_OR_RETURN(JdbcTarget target, JdbcTarget::Of(table));
  std::string columns, keys;
  for (const Field& field : request.schema.fields) {
    columns += (columns.empty() ? "" : ", ") + QuoteSqliteName(field.name);
  }
  for (const int key : request.keys) {
    keys += (keys.empty() ? "" : " AND ") + QuoteSqliteName(table.columns[static_cast<size_t>(key)].name) +
            " = ?";
  }
  std::string query = fmt::format("SELECT {} FROM {} WHERE {}", columns.empty() ? "1" : columns,
                                  QuoteSqliteName(target.table), keys);
  std::unique_ptr<JdbcLookup> lookup(new JdbcLookup(std::move(target), std::move(query), request.schema));
  RETURN_IF_ERROR(lookup->Connect());
  return std::unique_ptr<LookupReader>(std::move(lookup));
}

Status JdbcLookup::Connect() {
  if (database_ != nullptr && !database_->has_moved()) return Status();
  database_ = nullptr;
  const auto open = [&]() -> Status {
    ASSIGN_OR_RETURN(std::unique_ptr<Sqlite> database, Sqlite::Open(target_.path, Sqlite::Mode::kReadOnly));
    RETURN_IF_ERROR(database->Prepare(query_).status());
    database_ = std::move(database);
    return Status();
  };
  Status status = open();
  if (status.ok()) return status;
  return std::move(status).At(fmt::format("table '{}' of '{}'", target_.table, target_.path));
}

Result<LookupRows> JdbcLookup::Find(const Chunk& keys) {
  RETURN_IF_ERROR(Connect());
  Result<LookupRows> found = FindOpen(keys);
  if (!found.ok()) database_ = nullptr;  // with the transaction
  return found;
}

Result<LookupRows> JdbcLookup::FindOpen(const Chunk& keys) {
  LookupRows found;
  std::vector<ColumnBuilder> builders;
  for (const Field& field : schema_.fields) builders.emplace_back(field.type);
  ASSIGN_OR_RETURN(SqliteStatement statement, database_->Prepare(query_));
  RETURN_IF_ERROR(database_->Execute("BEGIN"));
  for (int32_t key = 0; key < keys.size(); ++key) {
    RETURN_IF_ERROR(FindOne(keys, key, &statement, &builders, &found));
  }
  RETURN_IF_ERROR(database_->Execute("COMMIT"));
  for (ColumnBuilder& builder : builders) found.columns.push_back(builder.Finish());
  return found;
}

Status JdbcLookup::FindOne(const Chunk& keys, int32_t key, SqliteStatement* statement,
                           std::vector<ColumnBuilder>* builders, LookupRows* found) const {
  std::string cells;
  for (const ColumnPtr& column : keys.columns()) CellEncoder(*column).Append(key, &cells);
  size_t at = 0;
  statement->Reset();
  for (int i = 0; i < keys.column_count(); ++i) {
    if (!BindCell(cells, &at, i, statement)) return Status::Internal("a key has no form in the database");
  }
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, statement->Step());
    if (!row) break;
    found->key_of_row.push_back(key);
    bool readable = true;
    for (size_t i = 0; i < builders->size(); ++i) {
      ColumnBuilder& builder = (*builders)[i];
      const int column = static_cast<int>(i);
      if (readable && AppendFromDatabase(*statement, column, &builder)) continue;
      if (readable) {
        const std::string text(statement->text(column));
        found->unreadable.push_back({key, NotOfColumn(schema_[column].name, text, builder.type())});
      }
      readable = false;
      builder.AppendNull();
    }
  }
  // Before the texts that are bound go.
  statement->Reset();
  return Status();
}

}  // namespace caudal
