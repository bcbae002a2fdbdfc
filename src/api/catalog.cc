#include "api/catalog.h"

#include <fmt/format.h>

namespace caudal {
namespace {

Status Taken(std::string_view kind, std::string_view name) {
  return Status::User(fmt::format("{} '{}' exists already", kind, name))
      .Hint("drop it first, or say CREATE … IF NOT EXISTS");
}

template <typename Map>
std::vector<std::string> Names(const Map& map) {
  std::vector<std::string> names;
  for (const auto& [name, _] : map) names.push_back(name);
  return names;
}

}  // namespace

Status Catalog::AddTable(Table table, bool if_not_exists) {
  if (tables_.contains(table.name)) return if_not_exists ? Status() : Taken("table", table.name);
  if (views_.contains(table.name)) return Taken("view", table.name);
  std::string name = table.name;
  tables_.emplace(std::move(name), std::move(table));
  return Status();
}

Status Catalog::AddView(View view, bool if_not_exists) {
  if (views_.contains(view.name)) return if_not_exists ? Status() : Taken("view", view.name);
  if (tables_.contains(view.name)) return Taken("table", view.name);
  std::string name = view.name;
  views_.emplace(std::move(name), std::move(view));
  return Status();
}

Status Catalog::Drop(std::string_view name, bool view, bool if_exists) {
  bool dropped = false;
  if (view) {
    if (auto found = views_.find(name); found != views_.end()) dropped = (views_.erase(found), true);
  } else if (auto found = tables_.find(name); found != tables_.end()) {
    dropped = (tables_.erase(found), true);
  }
  if (dropped || if_exists) return Status();
  return Status::User(fmt::format("there is no {} '{}'", view ? "view" : "table", name));
}

const Table* Catalog::FindTable(std::string_view name) const {
  auto found = tables_.find(name);
  if (found != tables_.end()) return &found->second;
  const ExternalTable* outside = externals_->FindLoaded(name);
  return outside == nullptr ? nullptr : &outside->table;
}

const View* Catalog::FindView(std::string_view name) const {
  auto found = views_.find(name);
  return found == views_.end() ? nullptr : &found->second;
}

void Catalog::SetSurroundings(FileSystem* files, Env* env) {
  surroundings_.files = files;
  surroundings_.env = env;
}

std::vector<std::string> Catalog::TableNames() const { return Names(tables_); }
std::vector<std::string> Catalog::ViewNames() const { return Names(views_); }

const Connector* Catalog::FindConnector(std::string_view name) const {
  for (const Connector* connector : connectors_) {
    if (connector->name() == name) return connector;
  }
  return nullptr;
}

}  // namespace caudal
