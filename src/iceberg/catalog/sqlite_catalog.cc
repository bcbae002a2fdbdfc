#include "iceberg/catalog/sqlite_catalog.h"

#include <fmt/format.h>

#include "db/sqlite_transaction.h"
#include "iceberg/catalog/new_metadata.h"

namespace caudal::iceberg {
namespace {

constexpr const char* kMakeTables =
    "CREATE TABLE IF NOT EXISTS iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace "
    "VARCHAR(255) NOT NULL,"
    " table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location "
    "VARCHAR(1000),"
    " iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name));"
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL,"
    " namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255) NOT NULL, property_value VARCHAR(1000) NOT "
    "NULL,"
    " PRIMARY KEY (catalog_name, namespace, property_key))";

std::string Joined(const std::vector<std::string>& space) { return fmt::format("{}", fmt::join(space, ".")); }

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> levels;
  while (true) {
    const size_t dot = text.find('.');
    levels.emplace_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return levels;
    text.remove_prefix(dot + 1);
  }
}

void BindKey(SqliteStatement* statement, const std::string& catalog, const std::string& space,
             const std::string& name) {
  statement->BindText(0, catalog);
  statement->BindText(1, space);
  statement->BindText(2, name);
}

}  // namespace

Result<std::unique_ptr<SqliteCatalog>> SqliteCatalog::Open(const Options& options, const TableFiles* files) {
  ASSIGN_OR_RETURN(std::unique_ptr<Sqlite> database, Sqlite::Open(options.path, Sqlite::Mode::kCreate));
  std::unique_ptr<SqliteCatalog> catalog(new SqliteCatalog(options, std::move(database), files));
  RETURN_IF_ERROR(catalog->MakeTables());
  return catalog;
}

Status SqliteCatalog::MakeTables() {
  ASSIGN_OR_RETURN(const int64_t tables,
                   database_->QueryInteger("SELECT COUNT(*) FROM sqlite_master WHERE name IN"
                                           " ('iceberg_tables', 'iceberg_namespace_properties')",
                                           0));
  if (tables < 2) RETURN_IF_ERROR(database_->Execute(kMakeTables));
  // Older writers made the table without this column.
  ASSIGN_OR_RETURN(
      const int64_t typed,
      database_->QueryInteger(
          "SELECT COUNT(*) FROM pragma_table_info('iceberg_tables') WHERE name = 'iceberg_type'", 0));
  if (typed > 0) only_tables_ = " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)";
  return {};
}

Result<bool> SqliteCatalog::HasNamespace(const std::string& space) {
  ASSIGN_OR_RETURN(
      SqliteStatement find,
      database_->Prepare(
          "SELECT 1 FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?"
          " UNION ALL SELECT 1 FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ?"));
  for (int i : {0, 2}) find.BindText(i, options_.name);
  for (int i : {1, 3}) find.BindText(i, space);
  return find.Step();
}

Status SqliteCatalog::CreateNamespace(const std::vector<std::string>& space) {
  const std::string joined = Joined(space);
  ASSIGN_OR_RETURN(SqliteStatement add,
                   database_->Prepare(
                       "INSERT OR IGNORE INTO iceberg_namespace_properties VALUES (?, ?, 'exists', 'true')"));
  add.BindText(0, options_.name);
  add.BindText(1, joined);
  return add.Run();
}

Result<std::vector<std::vector<std::string>>> SqliteCatalog::ListNamespaces() {
  ASSIGN_OR_RETURN(
      SqliteStatement list,
      database_->Prepare(
          "SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ?"
          " UNION SELECT table_namespace FROM iceberg_tables WHERE catalog_name = ? ORDER BY 1"));
  list.BindText(0, options_.name);
  list.BindText(1, options_.name);
  std::vector<std::vector<std::string>> spaces;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, list.Step());
    if (!more) return spaces;
    spaces.push_back(Split(list.text(0)));
  }
}

Result<std::vector<std::string>> SqliteCatalog::ListTables(const std::vector<std::string>& space) {
  const std::string joined = Joined(space);
  ASSIGN_OR_RETURN(
      SqliteStatement list,
      database_->Prepare(
          "SELECT table_name FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ?" +
          only_tables_ + " ORDER BY 1"));
  list.BindText(0, options_.name);
  list.BindText(1, joined);
  std::vector<std::string> tables;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, list.Step());
    if (!more) return tables;
    tables.emplace_back(list.text(0));
  }
}

Result<LoadedTable> SqliteCatalog::CreateTable(const TableName& name, const NewTable& created) {
  const std::string space = Joined(name.space);
  ASSIGN_OR_RETURN(const bool there, HasNamespace(space));
  if (!there) return Status::User(fmt::format("there is no namespace '{}'", space)).Hint("create it first");
  ASSIGN_OR_RETURN(TableMetadata table, FirstMetadata(created,
                                                      fmt::format("{}/{}/{}", options_.warehouse,
                                                                  fmt::join(name.space, "/"), name.name),
                                                      *files_));
  ASSIGN_OR_RETURN(const std::string location, files_->WriteMetadata(table, 0));

  ASSIGN_OR_RETURN(
      SqliteStatement add,
      database_->Prepare(fmt::format("INSERT OR IGNORE INTO iceberg_tables (catalog_name, table_namespace,"
                                     " table_name, metadata_location{}) VALUES (?, ?, ?, ?{})",
                                     only_tables_.empty() ? "" : ", iceberg_type",
                                     only_tables_.empty() ? "" : ", 'TABLE'")));
  BindKey(&add, options_.name, space, name.name);
  add.BindText(3, location);
  RETURN_IF_ERROR(add.Run());
  if (database_->changes() == 0) {
    RETURN_IF_ERROR(files_->Remove(location));
    return Status::User(fmt::format("the table '{}' is there already", name.ToString()));
  }
  return LoadedTable{location, std::move(table)};
}

Result<std::string> SqliteCatalog::FindLocation(const TableName& name) {
  const std::string space = Joined(name.space);
  ASSIGN_OR_RETURN(SqliteStatement find,
                   database_->Prepare("SELECT metadata_location FROM iceberg_tables WHERE catalog_name = ?"
                                      " AND table_namespace = ? AND table_name = ?" +
                                      only_tables_));
  BindKey(&find, options_.name, space, name.name);
  ASSIGN_OR_RETURN(const bool found, find.Step());
  if (found) return std::string(find.text(0));
  Status missing =
      Status::User(fmt::format("there is no table '{}' in the catalog '{}'", name.ToString(), options_.name));
  ASSIGN_OR_RETURN(
      SqliteStatement near,
      database_->Prepare(
          "SELECT table_namespace || '.' || table_name FROM iceberg_tables WHERE catalog_name = ?"
          " AND lower(table_namespace) = lower(?) AND lower(table_name) = lower(?)"));
  BindKey(&near, options_.name, space, name.name);
  ASSIGN_OR_RETURN(const bool like, near.Step());
  if (like)
    return std::move(missing).Hint(
        fmt::format("'{}' differs by case alone; names are taken as they are", near.text(0)));
  ASSIGN_OR_RETURN(SqliteStatement other,
                   database_->Prepare("SELECT catalog_name FROM iceberg_tables WHERE catalog_name <> ?"
                                      " AND table_namespace = ? AND table_name = ?"));
  BindKey(&other, options_.name, space, name.name);
  ASSIGN_OR_RETURN(const bool elsewhere, other.Step());
  if (elsewhere)
    return std::move(missing).Hint(
        fmt::format("this file has it under the catalog name '{}'", other.text(0)));
  return missing;
}

Result<LoadedTable> SqliteCatalog::LoadTable(const TableName& name) {
  ASSIGN_OR_RETURN(std::string location, FindLocation(name));
  const bool known = !location.empty() && location == last_.metadata_location;
  if (!known) {
    ASSIGN_OR_RETURN(TableMetadata metadata, files_->ReadMetadata(location));
    last_ = {std::move(location), std::move(metadata)};
  }
  return last_;
}

Status SqliteCatalog::DropTable(const TableName& name) {
  RETURN_IF_ERROR(FindLocation(name).status());
  const std::string space = Joined(name.space);
  ASSIGN_OR_RETURN(SqliteStatement drop,
                   database_->Prepare("DELETE FROM iceberg_tables WHERE catalog_name = ?"
                                      " AND table_namespace = ? AND table_name = ?"));
  BindKey(&drop, options_.name, space, name.name);
  return drop.Run();
}

Status SqliteCatalog::DropNamespace(const std::vector<std::string>& space) {
  const std::string joined = Joined(space);
  ASSIGN_OR_RETURN(const bool there, HasNamespace(joined));
  if (!there) return Status::User(fmt::format("there is no namespace '{}'", joined));
  // In one statement, so that no table can come into it in between.
  ASSIGN_OR_RETURN(
      SqliteStatement drop,
      database_->Prepare(
          "DELETE FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND namespace = ?2"
          " AND NOT EXISTS (SELECT 1 FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2)"));
  drop.BindText(0, options_.name);
  drop.BindText(1, joined);
  RETURN_IF_ERROR(drop.Run());
  if (database_->changes() > 0) return Status();
  return Status::User(fmt::format("the namespace '{}' is not empty", joined)).Hint("drop its tables first");
}

Status SqliteCatalog::RenameTable(const TableName& name, const TableName& to) {
  RETURN_IF_ERROR(FindLocation(name).status());
  const std::string from_space = Joined(name.space), to_space = Joined(to.space);
  ASSIGN_OR_RETURN(
      SqliteStatement rename,
      database_->Prepare("UPDATE OR IGNORE iceberg_tables SET table_namespace = ?4, table_name = ?5"
                         " WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3" +
                         only_tables_));
  BindKey(&rename, options_.name, from_space, name.name);
  rename.BindText(3, to_space);
  rename.BindText(4, to.name);
  RETURN_IF_ERROR(rename.Run());
  if (database_->changes() > 0) return Status();
  return Status::User(fmt::format("the table '{}' is there already", to.ToString()));
}

Result<bool> SqliteCatalog::Swap(const TableName& name, const std::string& from, const std::string& to) {
  const std::string space = Joined(name.space);
  ASSIGN_OR_RETURN(
      SqliteStatement swap,
      database_->Prepare("UPDATE iceberg_tables SET metadata_location = ?4, previous_metadata_location = ?5"
                         " WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3"
                         " AND metadata_location = ?5" +
                         only_tables_));
  BindKey(&swap, options_.name, space, name.name);
  swap.BindText(3, to);
  swap.BindText(4, from);
  RETURN_IF_ERROR(swap.Run());
  return database_->changes() > 0;
}

CommitAnswer SqliteCatalog::Commit(const TableName& name, const TableCommit& commit) {
  const auto refused = [](Status status) {
    return CommitAnswer{CommitOutcome::kRefused, std::move(status), {}};
  };
  Result<LoadedTable> base = LoadTable(name);
  if (!base.ok()) return refused(base.status());
  Result<TableMetadata> table = NextMetadata(*base, commit, files_->env()->NowMillis());
  if (!table.ok()) return refused(table.status());
  Result<std::string> location = files_->WriteMetadata(*table, MetadataVersion(base->metadata_location) + 1);
  if (!location.ok()) return refused(location.status());

  SqliteTransaction transaction(database_.get());
  Status begun = transaction.Begin();
  if (!begun.ok()) return refused(begun);  // the lock was not had: nothing can have changed
  Result<bool> swapped = Swap(name, base->metadata_location, *location);
  if (!swapped.ok()) return {CommitOutcome::kUnknown, swapped.status(), {}};
  if (!*swapped) {
    Status removed = files_->Remove(*location);  // nobody has seen it; left behind it is an orphan, no more
    return refused(
        Status::External(fmt::format("the table '{}' was changed by another writer{}", name.ToString(),
                                     removed.ok() ? "" : ", and a metadata file was left behind"),
                         Retry::kBackoff)
            .Hint("the commit is rebuilt and tried again"));
  }
  Status committed = transaction.Commit();
  if (!committed.ok()) return {CommitOutcome::kUnknown, committed, {}};
  RemoveForgotten(*files_, base->metadata, *table);
  last_ = {*std::move(location), *std::move(table)};
  return {CommitOutcome::kDone, {}, last_};
}

}  // namespace caudal::iceberg
