#include "server/cli/lake/lake_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/secret.h"
#include "server/program_files.h"

namespace caudal {
namespace {

constexpr std::string_view kConnector = "iceberg";

struct NamedTable {
  std::string name;
  Table table;
};

bool IsIceberg(const Table& table) {
  // 'orders$files' is what the metadata says of another table.
  return table.option("connector") == kConnector &&
         table.option("catalog-table", table.name).find('$') == std::string_view::npos;
}

// "lake.shop.orders": what stands between is the database, which may have several levels.
ObjectPath PathOfName(const Catalog& catalog, const std::string& name) {
  ObjectPath path{catalog.current().catalog, catalog.current().database, name};
  const size_t last = name.rfind('.');
  if (last == std::string::npos) return path;
  path.name = name.substr(last + 1);
  path.database = name.substr(0, last);
  const size_t first = path.database.find('.');
  const std::string head = path.database.substr(0, first);
  if (first != std::string::npos && catalog.externals().Find(head) != nullptr) {
    path.catalog = head;
    path.database = path.database.substr(first + 1);
  }
  return path;
}

Result<NamedTable> FindNamed(const Catalog& catalog, const std::string& name) {
  if (const Table* table = catalog.FindTable(name)) {
    if (!IsIceberg(*table)) {
      return Status::User(fmt::format("table '{}' is not of connector 'iceberg'", name))
          .Hint("only Iceberg tables are maintained");
    }
    return NamedTable{name, *table};
  }
  const ObjectPath path = PathOfName(catalog, name);
  if (catalog.externals().Find(path.catalog) != nullptr) {
    // Not asked for here: a table whose metadata is damaged is maintained too.
    NamedTable named{name, {}};
    named.table.name = name;
    named.table.options = {{"catalog-database", path.database}, {"catalog-table", path.name}};
    catalog.externals().AddDeclaredOptions(path, &named.table);
    named.table.options.emplace("catalog-name", path.catalog);
    if (IsIceberg(named.table)) return named;
  }
  return Status::User(fmt::format("unknown table '{}'", name))
      .Hint("name it as the program does: t, or catalog.database.t of a catalog that it creates");
}

// What queries write first: a table is shown by its own name, and not by one that the session gave it.
std::vector<NamedTable> AllOf(const Program& program) {
  std::vector<NamedTable> tables;
  const auto add = [&](const Table& table) {
    const bool known = std::any_of(tables.begin(), tables.end(),
                                   [&](const NamedTable& one) { return one.name == table.name; });
    if (!known && IsIceberg(table)) tables.push_back({table.name, table});
  };
  for (const Plan& plan : program.Queries()) {
    for (const PlanNode& node : plan.nodes) {
      if (const auto* sink = node.as<SinkNode>()) add(sink->table);
    }
  }
  for (const std::string& name : program.catalog().TableNames()) add(*program.catalog().FindTable(name));
  return tables;
}

bool IsSameTable(const IcebergOptions& a, const IcebergOptions& b) {
  const auto place = [](const IcebergOptions& options) {
    return std::tie(options.catalog_type, options.catalog_file, options.rest.uri, options.rest.prefix,
                    options.rest.warehouse, options.warehouse, options.catalog_name, options.name.space,
                    options.name.name);
  };
  return place(a) == place(b);
}

Result<LakeTable> Open(NamedTable named) {
  for (auto& [option, value] : named.table.options) {
    ASSIGN_OR_RETURN(value, Secrets::Expand(value));
  }
  LakeTable table{.shown = std::move(named.name), .options = {}, .lake = nullptr};
  ASSIGN_OR_RETURN(table.options, IcebergOptions::From(named.table));
  ASSIGN_OR_RETURN(FileSystem* const files, table.options.FilesOf(ProgramFiles()));
  ASSIGN_OR_RETURN(const bool there, IcebergLake::Exists(table.options, files));
  if (!there) {
    return Status::User(fmt::format("table '{}' is not there yet: nor is its catalog", table.shown))
        .Hint("the first run that writes it makes both");
  }
  ASSIGN_OR_RETURN(table.lake, IcebergLake::Open(table.options, files, Env::Real()));
  return table;
}

}  // namespace

Result<std::vector<LakeTable>> OpenLakeTables(const Program& program, const std::vector<std::string>& names) {
  std::vector<NamedTable> named;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(named.emplace_back(), FindNamed(program.catalog(), name));
  }
  if (names.empty()) named = AllOf(program);
  if (named.empty()) {
    return Status::User(fmt::format("'{}' has no Iceberg table", program.text().name))
        .Hint("name one of a catalog that it creates: catalog.database.table");
  }
  std::vector<LakeTable> opened;
  for (NamedTable& one : named) {
    ASSIGN_OR_RETURN(LakeTable table, Open(std::move(one)));
    const bool known = std::ranges::any_of(
        opened, [&](const LakeTable& other) { return IsSameTable(other.options, table.options); });
    // A program may have several names for one table; who says names means each of them.
    if (!known || !names.empty()) opened.push_back(std::move(table));
  }
  return opened;
}

}  // namespace caudal
