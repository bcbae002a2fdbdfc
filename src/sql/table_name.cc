#include "sql/table_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/parse/name_parser.h"

namespace caudal::sql {
namespace {

// The operations store is the one other database of the session: its tables keep their prefix.
constexpr std::string_view kOperations = "ops";

// A file or folder that FROM names in backquotes; it is found wherever names of one part are.
bool IsPathTable(const std::string& name, const Catalog& catalog) {
  const Table* table = catalog.FindTable(name);
  return table != nullptr && table->option("path") == name;
}

Status UnknownDatabase(const Name& name, const Catalog& catalog, const SourceText& source) {
  Status status = ErrorAt(source, name.range, fmt::format("unknown database '{}'", name.text));
  if (catalog.externals().Find(name.text) != nullptr)
    return std::move(status).Hint("a table in a catalog is named catalog.database.table");
  return std::move(status).Hint(fmt::format("there is only `{}`", kDefaultDatabase));
}

}  // namespace

Status UnknownCatalog(const Name& name, const Catalog& catalog, const SourceText& source) {
  Status status = ErrorAt(source, name.range, fmt::format("unknown catalog '{}'", name.text));
  std::vector<std::string> known = catalog.externals().Names();
  if (known.empty()) return std::move(status).Hint(fmt::format("there is only `{}`", kDefaultCatalog));
  known.emplace_back(kDefaultCatalog);
  return std::move(status).Hint(fmt::format("catalogs are {}", fmt::join(known, ", ")));
}

bool IsOutside(const ObjectPath& path) { return path.catalog != kDefaultCatalog; }

std::string NameInCatalog(const ObjectPath& path) {
  if (IsOutside(path)) return path.ToString();
  return path.database == kDefaultDatabase ? path.name : path.database + "." + path.name;
}

Result<ObjectPath> ResolvePath(const ObjectName& name, const Catalog& catalog, const SourceText& source,
                               const CurrentDatabase* current) {
  if (current == nullptr) current = &catalog.current();
  const size_t count = name.parts.size();
  ObjectPath path{current->catalog, current->database, name.parts.back().text};
  if (count > 1) path.database = name.parts[count - 2].text;
  if (count > 2) path.catalog = name.parts[0].text;
  if (IsOutside(path)) {
    if (catalog.externals().Find(path.catalog) != nullptr) return path;
    return UnknownCatalog(name.parts[0], catalog, source);
  }
  if (path.database == kDefaultDatabase || (count == 2 && path.database == kOperations)) return path;
  return UnknownDatabase(name.parts[count - 2], catalog, source);
}

Result<ObjectPath> ResolveDatabase(const ObjectName& name, const Catalog& catalog, const SourceText& source) {
  const size_t count = name.parts.size();
  if (count > 2) return ErrorAt(source, name.range, "the name of a database has at most two parts");
  ObjectPath path{catalog.current().catalog, name.parts.back().text, ""};
  if (count == 2) path.catalog = name.parts[0].text;
  if (IsOutside(path) && catalog.externals().Find(path.catalog) == nullptr)
    return UnknownCatalog(name.parts[0], catalog, source);
  return path;
}

Result<std::string> TableName(const ObjectName& name, const Catalog& catalog, const SourceText& source,
                              const CurrentDatabase* current) {
  ASSIGN_OR_RETURN(const ObjectPath path, ResolvePath(name, catalog, source, current));
  std::string resolved = NameInCatalog(path);
  if (!IsOutside(path)) return resolved;
  if (name.parts.size() == 1 && IsPathTable(path.name, catalog)) return path.name;
  // What the session has under this name hides what is outside.
  if (catalog.FindTable(resolved) != nullptr || catalog.FindView(resolved) != nullptr) return resolved;
  Status loaded = catalog.externals().Load(path);
  if (!loaded.ok()) return std::move(loaded).At(source.Frame(name.range));
  return resolved;
}

Status UnknownTable(const ObjectName& name, const std::string& resolved, const Catalog& catalog,
                    const SourceText& source) {
  Status status = ErrorAt(source, name.range, fmt::format("unknown table '{}'", resolved));
  const Result<ObjectPath> path = ResolvePath(name, catalog, source);
  std::vector<std::string> known = catalog.TableNames();
  for (std::string& view : catalog.ViewNames()) known.push_back(std::move(view));
  std::string meant = resolved;
  if (path.ok() && IsOutside(*path)) {
    const auto tables = catalog.externals().Find(path->catalog)->Tables(path->database);
    known = tables.ok() ? *tables : std::vector<std::string>();
    meant = path->name;
    const auto there = catalog.externals().HasDatabase(path->catalog, path->database);
    if (there.ok() && !*there) {
      return std::move(status).Hint(
          fmt::format("catalog '{}' has no database '{}': SHOW DATABASES lists what there is", path->catalog,
                      path->database));
    }
  }
  const std::string nearest = NearestName(meant, known);
  if (nearest.empty()) return std::move(status).Hint("SHOW TABLES lists what there is");
  return std::move(status).Hint(fmt::format("did you mean '{}'?", nearest));
}

}  // namespace caudal::sql
