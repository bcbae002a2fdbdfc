#include "connect/iceberg/catalog/iceberg_catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "connect/iceberg/catalog/catalog_table.h"
#include "connect/iceberg/catalog/schema_change.h"
#include "connect/iceberg/iceberg_columns.h"
#include "connect/iceberg/scan/metadata_table.h"

namespace caudal {
namespace {

constexpr int kAttempts = 5;  // of a change that another writer is quicker than

iceberg::TableName NameOf(const std::string& database, const std::string& name) {
  return {NamespaceOf(database), name};
}

// What CREATE CATALOG says, and CREATE TABLE in it may not.
constexpr std::string_view kOfCatalog[] = {
    "catalog-name", "catalog-type",      "uri",    "warehouse",        "credential",    "token",
    "scope",        "oauth2-server-uri", "prefix", "catalog-database", "catalog-table", "type"};

// What is said where a table is made and not kept with it would be forgotten without a word.
Status CheckKept(const Options& said, const Options& of_catalog) {
  for (const auto& [key, value] : said) {
    if (key == "connector" || key == "format-version" || key == "caudal.partition-by") continue;
    if (IsTableProperty(key) || of_catalog.contains(key)) continue;
    return Status::User(fmt::format("option '{}' is not kept with the table: it is no property", key))
        .Hint(fmt::format("say it where the table is read or written, as in t /*+ OPTIONS('{}' = '…') */",
                          key));
  }
  return Status();
}

}  // namespace

Result<std::unique_ptr<ExternalCatalog>> IcebergCatalog::Make(const Connector* connector,
                                                              const std::string& name,
                                                              const Options& declared,
                                                              const ConnectorContext& context) {
  std::unique_ptr<IcebergCatalog> catalog(new IcebergCatalog());
  catalog->connector_ = connector;
  Table any;  // the catalog's options, checked as those of a table in it
  any.name = name;
  any.options = declared;
  any.options.erase("type");
  any.options.erase("default-database");
  any.options.emplace("catalog-name", name);
  catalog->table_options_ = any.options;
  ASSIGN_OR_RETURN(catalog->options_, IcebergOptions::From(any));
  const auto database = declared.find("default-database");
  catalog->default_database_ = database == declared.end() ? "default" : database->second;
  ASSIGN_OR_RETURN(catalog->files_, catalog->options_.FilesOf(context.files));
  catalog->env_ = context.env == nullptr ? Env::Real() : context.env;
  return std::unique_ptr<ExternalCatalog>(std::move(catalog));
}

Result<iceberg::Catalog*> IcebergCatalog::Open() {
  if (lake_ == nullptr) {
    ASSIGN_OR_RETURN(lake_, IcebergLake::Open(options_, files_, env_));
  }
  return &lake_->catalog();
}

Result<iceberg::Catalog*> IcebergCatalog::OpenIfThere() {
  if (lake_ == nullptr) {
    ASSIGN_OR_RETURN(const bool there, IcebergLake::Exists(options_, files_));
    if (!there) return static_cast<iceberg::Catalog*>(nullptr);
  }
  return Open();
}

Result<std::vector<std::string>> IcebergCatalog::Databases() {
  ASSIGN_OR_RETURN(iceberg::Catalog* const catalog, OpenIfThere());
  if (catalog == nullptr) return std::vector<std::string>();
  ASSIGN_OR_RETURN(const auto spaces, catalog->ListNamespaces());
  std::vector<std::string> names;
  for (const std::vector<std::string>& space : spaces)
    names.push_back(fmt::format("{}", fmt::join(space, ".")));
  return names;
}

Status IcebergCatalog::CreateDatabase(const std::string& name) {
  ASSIGN_OR_RETURN(const std::vector<std::string> there, Databases());
  if (std::ranges::find(there, name) != there.end()) {
    return Status::User(fmt::format("database '{}' exists already", name))
        .Hint("say CREATE DATABASE IF NOT EXISTS");
  }
  ASSIGN_OR_RETURN(iceberg::Catalog* const catalog, Open());
  return catalog->CreateNamespace(NamespaceOf(name));
}

Status IcebergCatalog::DropDatabase(const std::string& name) {
  ASSIGN_OR_RETURN(iceberg::Catalog* const catalog, Open());
  return catalog->DropNamespace(NamespaceOf(name));
}

Result<std::vector<std::string>> IcebergCatalog::Tables(const std::string& database) {
  ASSIGN_OR_RETURN(iceberg::Catalog* const catalog, OpenIfThere());
  if (catalog == nullptr) return std::vector<std::string>();
  return catalog->ListTables(NamespaceOf(database));
}

Result<std::optional<ExternalTable>> IcebergCatalog::FindTable(const std::string& database,
                                                               const std::string& name) {
  ASSIGN_OR_RETURN(iceberg::Catalog* const catalog, OpenIfThere());
  if (catalog == nullptr) return std::optional<ExternalTable>();
  std::string stored = name;
  const std::optional<MetadataKind> metadata = TakeMetadataKind(&stored);
  Result<iceberg::LoadedTable> loaded = catalog->LoadTable(NameOf(database, stored));
  if (!loaded.ok() && loaded.status().domain() == Domain::kUser) {
    ASSIGN_OR_RETURN(const std::vector<std::string> there, catalog->ListTables(NamespaceOf(database)));
    if (std::ranges::find(there, stored) == there.end()) return std::optional<ExternalTable>();
  }
  if (!loaded.ok()) return std::move(loaded).status();
  ExternalTable found = metadata ? TableOfSchema(MetadataSchema(*metadata)) : TableOf(loaded->metadata);
  found.table.options = PlaceOf(database, name);
  return std::optional(std::move(found));
}

// Options of CREATE CATALOG are put in by the caller, as they were written.
Options IcebergCatalog::PlaceOf(const std::string& database, const std::string& name) const {
  return {{"connector", std::string(connector_->name())},
          {"catalog-name", table_options_.find("catalog-name")->second},
          {"catalog-database", database},
          {"catalog-table", name}};
}

Result<ExternalTable> IcebergCatalog::FutureTable(const std::string& database, const std::string& name,
                                                  const Table& table) const {
  Table made = table;
  for (const auto& [key, value] : table_options_) made.options[key] = value;
  ASSIGN_OR_RETURN(const IcebergOptions options, IcebergOptions::From(made));
  ASSIGN_OR_RETURN(const iceberg::NewTable wanted, NewIcebergTable(made, options));
  ExternalTable future{.path = {}, .table = table, .own = table.options};
  for (const auto& [key, value] : table_options_) future.own.erase(key);
  future.own.erase("connector");
  // Each column has a field, of a type that may be wider than what was declared.
  future.table.columns = TableOfSchema(wanted.schema).table.columns;
  future.table.options = PlaceOf(database, name);
  return future;
}

Status IcebergCatalog::CheckTable(const Table& table) const {
  Table checked = table;
  for (const std::string_view option : kOfCatalog) checked.options.erase(std::string(option));
  for (const auto& [key, value] : table_options_) {
    const auto said = table.options.find(key);
    if (said == table.options.end() || said->second == value) continue;
    return Status::User(fmt::format("option '{}' is for CREATE CATALOG to say", key));
  }
  for (const std::string_view option : {"catalog-database", "catalog-table"}) {
    if (!table.options.contains(option)) continue;
    return Status::User(fmt::format("option '{}' says where a table is, as its name does", option))
        .Hint("leave it out");
  }
  for (const auto& [key, value] : table_options_) checked.options[key] = value;
  RETURN_IF_ERROR(ValidateOptions(*connector_, checked));
  RETURN_IF_ERROR(CheckKept(table.options, table_options_));
  ASSIGN_OR_RETURN(const IcebergOptions options, IcebergOptions::From(checked));
  ASSIGN_OR_RETURN(const iceberg::NewTable made, NewIcebergTable(checked, options));
  if (made.schema.identifier_field_ids.size() == table.primary_key.size()) return Status();
  return Status::User("a column of floating-point numbers cannot be in the PRIMARY KEY of a catalog's table");
}

Status IcebergCatalog::CreateTable(const std::string& database, const std::string& name, const Table& table) {
  Table made = table;
  for (const auto& [key, value] : table_options_) made.options[key] = value;
  made.options["catalog-database"] = database;
  made.options["catalog-table"] = name;
  ASSIGN_OR_RETURN(const IcebergOptions options, IcebergOptions::From(made));
  ASSIGN_OR_RETURN(const iceberg::NewTable wanted, NewIcebergTable(made, options));
  ASSIGN_OR_RETURN(iceberg::Catalog* const catalog, Open());
  if (database == default_database_) RETURN_IF_ERROR(catalog->CreateNamespace(options.name.space));
  return catalog->CreateTable(options.name, wanted).status();
}

Status IcebergCatalog::DropTable(const std::string& database, const std::string& name) {
  ASSIGN_OR_RETURN(iceberg::Catalog* const catalog, Open());
  return catalog->DropTable(NameOf(database, name));
}

Status IcebergCatalog::RenameTable(const std::string& database, const std::string& name,
                                   const std::string& to) {
  ASSIGN_OR_RETURN(iceberg::Catalog* const catalog, Open());
  return catalog->RenameTable(NameOf(database, name), NameOf(database, to));
}

// `*again`: another writer was quicker, and the change may be made to what it left.
Status IcebergCatalog::Alter(iceberg::Catalog* catalog, const iceberg::TableName& name,
                             const std::vector<TableChange>& changes, bool* again) {
  ASSIGN_OR_RETURN(const iceberg::LoadedTable table, catalog->LoadTable(name));
  ASSIGN_OR_RETURN(const iceberg::TableCommit commit, CommitOf(changes, table.metadata));
  iceberg::CommitAnswer answer = catalog->Commit(name, commit);
  if (answer.outcome == iceberg::CommitOutcome::kDone) return Status();
  *again = answer.outcome == iceberg::CommitOutcome::kRefused && answer.status.retry() == Retry::kBackoff;
  if (answer.outcome == iceberg::CommitOutcome::kRefused) return std::move(answer.status);
  return std::move(answer.status)
      .Hint("the change may have been made, or not: DESCRIBE shows it; then say it again if it was not");
}

Status IcebergCatalog::AlterTable(const std::string& database, const std::string& name,
                                  const std::vector<TableChange>& changes) {
  ASSIGN_OR_RETURN(iceberg::Catalog* const catalog, Open());
  for (int attempt = 1;; ++attempt) {
    bool again = false;
    Status status = Alter(catalog, NameOf(database, name), changes, &again);
    if (status.ok() || !again || attempt == kAttempts) return status;
  }
}

}  // namespace caudal
