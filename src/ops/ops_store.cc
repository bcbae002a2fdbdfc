#include "ops/ops_store.h"

#include <fmt/format.h>

#include <map>

#include "db/sqlite_transaction.h"
#include "ops/ops_table.h"

namespace caudal {
namespace {

void Bind(const OpsRow::Cell& cell, int parameter, SqliteStatement* statement) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) {
    statement->BindInteger(parameter, *integer);
  } else if (const auto* real = std::get_if<double>(&cell)) {
    statement->BindReal(parameter, *real);
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    statement->BindText(parameter, *text);
  } else {
    statement->BindNull(parameter);
  }
}

// Makes the table; one that an older caudal made gets the form of today and keeps what both forms have.
Status MakeTable(Sqlite* database, const OpsTable& table) {
  const std::string create = table.CreateStatement();
  const std::string old = fmt::format("former_{}", table.name);
  ASSIGN_OR_RETURN(const int64_t outdated,
                   database->QueryInteger(
                       fmt::format("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '{}' "
                                   "AND substr(sql, instr(sql, '(')) <> '{}'",
                                   table.name, create.substr(create.find('('))),
                       0));
  if (outdated == 0) return database->Execute(create);
  RETURN_IF_ERROR(database->Execute(fmt::format("ALTER TABLE {} RENAME TO {}", table.name, old)));
  RETURN_IF_ERROR(database->Execute(create));
  std::string shared;
  for (const OpsColumn& column : table.columns) {
    ASSIGN_OR_RETURN(
        const int64_t known,
        database->QueryInteger(
            fmt::format("SELECT count(*) FROM pragma_table_info('{}') WHERE name = '{}'", old, column.name),
            0));
    if (known != 0) shared += (shared.empty() ? "" : ", ") + QuoteSqliteName(column.name);
  }
  return database->Execute(fmt::format("INSERT OR REPLACE INTO {} ({}) SELECT {} FROM {}; DROP TABLE {}",
                                       table.name, shared, shared, old, old));
}

}  // namespace

Status OpsStore::CheckVersion(Sqlite* database) {
  ASSIGN_OR_RETURN(const int64_t version, database->QueryInteger("PRAGMA user_version", 0));
  if (version <= kVersion) return Status();
  return Status::User(
             fmt::format("operations store '{}' is of version {}, and this caudal knows those up to {}",
                         database->path(), version, kVersion))
      .Hint("use the caudal that made it, or move the file away: it holds history alone");
}

Result<std::unique_ptr<OpsStore>> OpsStore::Open(const std::string& state_root) {
  ASSIGN_OR_RETURN(std::unique_ptr<Sqlite> database, Sqlite::Open(PathIn(state_root), Sqlite::Mode::kCreate));
  // History may lose its last second in a power cut: it is not worth a disk sync a commit.
  RETURN_IF_ERROR(database->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"));
  RETURN_IF_ERROR(CheckVersion(database.get()));
  SqliteTransaction tables(database.get());
  RETURN_IF_ERROR(tables.Begin());
  for (const OpsTable& table : OpsTables()) RETURN_IF_ERROR(MakeTable(database.get(), table));
  RETURN_IF_ERROR(database->Execute(fmt::format("PRAGMA user_version = {}", kVersion)));
  RETURN_IF_ERROR(tables.Commit());
  return std::unique_ptr<OpsStore>(new OpsStore(std::move(database)));
}

Status OpsStore::Write(const std::vector<OpsRow>& rows) {
  SqliteTransaction transaction(database_.get());
  RETURN_IF_ERROR(transaction.Begin());
  std::map<std::pair<std::string_view, bool>, SqliteStatement> statements;
  for (const OpsRow& row : rows) {
    const std::pair kind(row.table, row.only_new);
    auto found = statements.find(kind);
    if (found == statements.end()) {
      ASSIGN_OR_RETURN(SqliteStatement insert,
                       database_->Prepare(FindOpsTable(row.table).InsertStatement(row.only_new)));
      found = statements.emplace(kind, std::move(insert)).first;
    }
    for (size_t i = 0; i < row.cells.size(); ++i) Bind(row.cells[i], static_cast<int>(i), &found->second);
    RETURN_IF_ERROR(found->second.Run());
  }
  return transaction.Commit();
}

Status OpsStore::Expire(int64_t millis) {
  OpsRow limit("streaming_progress");
  limit.Time(millis);
  for (const auto& [table, column] :
       {std::pair("streaming_progress", "observed_at"), std::pair("epochs", "committed_at"),
        std::pair("warnings", "observed_at")}) {
    ASSIGN_OR_RETURN(SqliteStatement remove,
                     database_->Prepare(fmt::format("DELETE FROM {} WHERE {} < ?", table, column)));
    Bind(limit.cells[0], 0, &remove);
    RETURN_IF_ERROR(remove.Run());
  }
  return Status();
}

}  // namespace caudal
