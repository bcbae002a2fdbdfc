#include "api/external_catalogs.h"

#include <fmt/format.h>

#include <algorithm>

namespace caudal {
namespace {

std::string Part(const std::string& name) {
  return name.find_first_of(".`") == std::string::npos ? name : fmt::format("`{}`", name);
}

}  // namespace

std::string ObjectPath::ToString() const {
  return fmt::format("{}.{}.{}", Part(catalog), Part(database), Part(name));
}

std::string ObjectPath::Quoted() const { return fmt::format("`{}`.`{}`.`{}`", catalog, database, name); }

Status ExternalCatalogs::Add(const std::string& name, std::unique_ptr<ExternalCatalog> catalog,
                             Options declared) {
  if (entries_.contains(name)) return Status::User(fmt::format("catalog '{}' exists already", name));
  entries_[name] = Entry{std::move(catalog), std::move(declared)};
  return Status();
}

Status ExternalCatalogs::Drop(const std::string& name) {
  if (entries_.erase(name) == 0) return Status::User(fmt::format("there is no catalog '{}'", name));
  return Status();
}

std::vector<std::string> ExternalCatalogs::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, _] : entries_) names.push_back(name);
  return names;
}

ExternalCatalog* ExternalCatalogs::Find(std::string_view name) {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : found->second.catalog.get();
}

const Options& ExternalCatalogs::DeclaredOptions(std::string_view name) const {
  return EntryOf(name).declared;
}

Result<bool> ExternalCatalogs::HasDatabase(const std::string& catalog, const std::string& database) {
  ExternalCatalog& outside = *EntryOf(catalog).catalog;
  if (database == outside.default_database()) return true;
  if (planned_databases_.contains(fmt::format("{}.{}", catalog, database))) return true;
  ASSIGN_OR_RETURN(const std::vector<std::string> there, outside.Databases());
  return std::ranges::find(there, database) != there.end();
}

Status ExternalCatalogs::Load(const ObjectPath& path) {
  const std::string key = path.ToString();
  if (loaded_.contains(key)) return Status();
  const auto planned = planned_.find(key);
  if (planned != planned_.end()) {
    loaded_[key] = planned->second;
    return Status();
  }
  ASSIGN_OR_RETURN(std::optional<ExternalTable> found,
                   EntryOf(path.catalog).catalog->FindTable(path.database, path.name));
  if (found) found = AtPath(path, *std::move(found));
  loaded_[key] = std::move(found);
  return Status();
}

ExternalTable ExternalCatalogs::AtPath(const ObjectPath& path, ExternalTable found) const {
  found.path = path;
  found.table.name = path.ToString();
  AddDeclaredOptions(path, &found.table);
  return found;
}

const ExternalTable* ExternalCatalogs::FindLoaded(std::string_view name) const {
  const auto found = loaded_.find(name);
  return found == loaded_.end() || !found->second ? nullptr : &*found->second;
}

void ExternalCatalogs::ForgetLoaded() { loaded_.clear(); }

void ExternalCatalogs::AddDeclaredOptions(const ObjectPath& path, Table* table) const {
  for (const auto& [key, value] : DeclaredOptions(path.catalog)) {
    if (key != "type" && key != "default-database") table->options.emplace(key, value);
  }
}

Status ExternalCatalogs::CreateDatabase(const std::string& catalog, const std::string& database) {
  if (!plan_only_) return EntryOf(catalog).catalog->CreateDatabase(database);
  planned_databases_.insert(fmt::format("{}.{}", catalog, database));
  return Status();
}

Status ExternalCatalogs::DropDatabase(const std::string& catalog, const std::string& database, bool cascade) {
  if (plan_only_) {
    planned_databases_.erase(fmt::format("{}.{}", catalog, database));
    return Status();
  }
  ExternalCatalog& outside = *EntryOf(catalog).catalog;
  if (cascade) {
    ASSIGN_OR_RETURN(const std::vector<std::string> tables, outside.Tables(database));
    for (const std::string& table : tables) RETURN_IF_ERROR(outside.DropTable(database, table));
  }
  ForgetLoaded();
  return outside.DropDatabase(database);
}

Status ExternalCatalogs::CheckTable(const ObjectPath& path, Table table) const {
  AddDeclaredOptions(path, &table);
  return EntryOf(path.catalog).catalog->CheckTable(table);
}

Status ExternalCatalogs::CreateTable(const ObjectPath& path, Table table) {
  ExternalCatalog& outside = *EntryOf(path.catalog).catalog;
  AddDeclaredOptions(path, &table);
  ForgetLoaded();
  if (!plan_only_) return outside.CreateTable(path.database, path.name, table);
  ASSIGN_OR_RETURN(ExternalTable future, outside.FutureTable(path.database, path.name, table));
  planned_[path.ToString()] = AtPath(path, std::move(future));
  return Status();
}

Status ExternalCatalogs::DropTable(const ObjectPath& path) {
  if (!plan_only_) RETURN_IF_ERROR(EntryOf(path.catalog).catalog->DropTable(path.database, path.name));
  if (plan_only_) planned_[path.ToString()] = std::nullopt;
  ForgetLoaded();
  return Status();
}

Status ExternalCatalogs::RenameTable(const ObjectPath& path, const std::string& to) {
  ForgetLoaded();
  if (!plan_only_) return EntryOf(path.catalog).catalog->RenameTable(path.database, path.name, to);
  RETURN_IF_ERROR(Load(path));
  ObjectPath moved = path;
  moved.name = to;
  planned_[moved.ToString()] = loaded_[path.ToString()];
  planned_[path.ToString()] = std::nullopt;
  ForgetLoaded();
  return Status();
}

Status ExternalCatalogs::AlterTable(const ObjectPath& path, const std::vector<TableChange>& changes) {
  ForgetLoaded();
  if (plan_only_) return Status();
  return EntryOf(path.catalog).catalog->AlterTable(path.database, path.name, changes);
}

}  // namespace caudal
