#include "sql/catalog/catalog_statements.h"

#include <fmt/format.h>

#include "sql/create_table.h"
#include "sql/table_name.h"

namespace caudal::sql {
namespace {

Result<StatementDone> Done(std::string message) { return StatementDone{std::move(message)}; }

// The option that a message quotes.
SourceRange FaultyOption(const CreateCatalog& create, std::string_view message) {
  for (const Option& option : create.options) {
    if (message.find(fmt::format("'{}'", option.key)) != std::string_view::npos) return option.key_range;
  }
  return create.name.range;
}

std::string DatabaseName(const ObjectPath& path) { return fmt::format("{}.{}", path.catalog, path.database); }

}  // namespace

Result<bool> CatalogStatements::HasTable(const ObjectPath& path, SourceRange range) const {
  RETURN_IF_ERROR(AtName(externals().Load(path), range));
  return externals().FindLoaded(path.ToString()) != nullptr;
}

Status CatalogStatements::CheckDatabase(const ObjectPath& path, SourceRange range) const {
  const Result<bool> there = externals().HasDatabase(path.catalog, path.database);
  RETURN_IF_ERROR(AtName(there.status(), range));
  if (*there) return Status();
  return Fail(range, fmt::format("catalog '{}' has no database '{}'", path.catalog, path.database))
      .Hint(fmt::format("CREATE DATABASE {} makes it", DatabaseName(path)));
}

Result<StatementDone> CatalogStatements::Execute(const CreateCatalog& create) {
  const std::string& name = create.name.text;
  if (name == kDefaultCatalog || externals().Find(name) != nullptr) {
    if (create.if_not_exists) return Done(fmt::format("catalog '{}' is there already", name));
    return Fail(create.name.range, fmt::format("catalog '{}' exists already", name))
        .Hint("drop it first, or say CREATE CATALOG IF NOT EXISTS");
  }
  Options options;
  for (const Option& option : create.options) options[option.key] = option.value;
  std::string types;
  const Connector* connector = nullptr;
  for (const Connector* each : catalog_.connectors()) {
    if (each->catalog_options().empty()) continue;
    types += fmt::format("{}'{}'", types.empty() ? "" : ", ", each->name());
    if (options.contains("type") && options["type"] == each->name()) connector = each;
  }
  if (connector == nullptr) {
    return Fail(options.contains("type") ? FaultyOption(create, "'type'") : create.name.range,
                options.contains("type") ? fmt::format("unknown 'type' of catalog: '{}'", options["type"])
                                         : fmt::format("catalog '{}' has no option 'type'", name))
        .Hint(fmt::format("there is 'type' = {}", types));
  }
  Status valid = ValidateCatalogOptions(*connector, name, options);
  if (!valid.ok()) {
    const SourceRange range = FaultyOption(create, valid.message() + valid.ToString());
    return std::move(valid).At(source_.Frame(range));
  }
  Result<std::unique_ptr<ExternalCatalog>> made =
      connector->MakeCatalog(name, options, catalog_.surroundings());
  if (!made.ok()) return made.status().At(source_.Frame(FaultyOption(create, made.status().message())));
  options["connector"] = connector->name();
  RETURN_IF_ERROR(externals().Add(name, std::move(made).value(), std::move(options)));
  return Done(fmt::format("catalog '{}' created", name));
}

Result<StatementDone> CatalogStatements::Execute(const DropCatalog& drop) {
  const std::string& name = drop.name.text;
  if (name == catalog_.current().catalog) {
    return Fail(drop.name.range, fmt::format("catalog '{}' is in use", name))
        .Hint(fmt::format("USE CATALOG {} first", kDefaultCatalog));
  }
  if (externals().Find(name) == nullptr) {
    if (drop.if_exists) return Done(fmt::format("there is no catalog '{}'", name));
    return UnknownCatalog(drop.name, catalog_, source_);
  }
  RETURN_IF_ERROR(externals().Drop(name));
  return Done(fmt::format("catalog '{}' dropped from the session; its tables stay", name));
}

Result<StatementDone> CatalogStatements::Execute(const CreateDatabase& create) {
  ASSIGN_OR_RETURN(const ObjectPath path, ResolveDatabase(create.name, catalog_, source_));
  if (!IsOutside(path)) {
    return NotBuiltAt(source_, create.name.range, fmt::format("a database in `{}`", kDefaultCatalog))
        .Hint("the session's tables need none; in a catalog: CREATE DATABASE catalog.database");
  }
  const Result<bool> there = externals().HasDatabase(path.catalog, path.database);
  RETURN_IF_ERROR(AtName(there.status(), create.name.range));
  if (*there && create.if_not_exists) {
    return Done(fmt::format("database '{}' is there already", DatabaseName(path)));
  }
  RETURN_IF_ERROR(AtName(externals().CreateDatabase(path.catalog, path.database), create.name.range));
  return Done(fmt::format("database '{}' created", DatabaseName(path)));
}

Result<StatementDone> CatalogStatements::Execute(const DropDatabase& drop) {
  ASSIGN_OR_RETURN(const ObjectPath path, ResolveDatabase(drop.name, catalog_, source_));
  if (!IsOutside(path)) {
    return Fail(drop.name.range, fmt::format("the databases of `{}` cannot be dropped", kDefaultCatalog));
  }
  const CurrentDatabase& current = catalog_.current();
  if (current.catalog == path.catalog && current.database == path.database) {
    return Fail(drop.name.range, fmt::format("database '{}' is in use", DatabaseName(path)))
        .Hint("USE another one first");
  }
  const Result<bool> there = externals().HasDatabase(path.catalog, path.database);
  RETURN_IF_ERROR(AtName(there.status(), drop.name.range));
  if (!*there && drop.if_exists) return Done(fmt::format("there is no database '{}'", DatabaseName(path)));
  RETURN_IF_ERROR(
      AtName(externals().DropDatabase(path.catalog, path.database, drop.cascade), drop.name.range));
  return Done(fmt::format("database '{}' dropped", DatabaseName(path)));
}

Result<StatementDone> CatalogStatements::Execute(const UseCatalog& use) {
  const std::string& name = use.name.text;
  if (name == kDefaultCatalog) {
    catalog_.Use(CurrentDatabase());
  } else if (ExternalCatalog* outside = externals().Find(name)) {
    catalog_.Use({name, outside->default_database()});
  } else {
    return UnknownCatalog(use.name, catalog_, source_);
  }
  return Done(fmt::format("catalog '{}' is in use", name));
}

Result<StatementDone> CatalogStatements::Execute(const UseDatabase& use) {
  ASSIGN_OR_RETURN(const ObjectPath path, ResolveDatabase(use.name, catalog_, source_));
  if (IsOutside(path)) {
    RETURN_IF_ERROR(CheckDatabase(path, use.name.range));
  } else if (path.database != kDefaultDatabase) {
    return Fail(use.name.range, fmt::format("unknown database '{}'", path.database))
        .Hint(externals().Find(path.database) == nullptr
                  ? fmt::format("there is only `{}`", kDefaultDatabase)
                  : fmt::format("a catalog is put in use by USE CATALOG {}", path.database));
  }
  catalog_.Use({path.catalog, path.database});
  return Done(fmt::format("database '{}' is in use", DatabaseName(path)));
}

Result<StatementDone> CatalogStatements::Execute(const CreateTable& create) {
  ASSIGN_OR_RETURN(const ObjectPath path, ResolvePath(create.name, catalog_, source_));
  RETURN_IF_ERROR(CheckDatabase(path, create.name.range));
  ASSIGN_OR_RETURN(const bool there, HasTable(path, create.name.range));
  if (there && create.if_not_exists) return Done(fmt::format("table '{}' is there already", path.ToString()));
  if (there) {
    return Fail(create.name.range, fmt::format("table '{}' exists already", path.ToString()))
        .Hint("drop it first, or say CREATE … IF NOT EXISTS");
  }
  ASSIGN_OR_RETURN(Table table, BindCreateTable(create, catalog_, source_));
  RETURN_IF_ERROR(AtName(externals().CreateTable(path, std::move(table)), create.name.range));
  return Done(fmt::format("table '{}' created", path.ToString()));
}

Result<StatementDone> CatalogStatements::Execute(const DropObject& drop) {
  ASSIGN_OR_RETURN(const ObjectPath path, ResolvePath(drop.name, catalog_, source_));
  ASSIGN_OR_RETURN(const bool there, HasTable(path, drop.name.range));
  if (!there && drop.if_exists) return Done(fmt::format("there is no table '{}'", path.ToString()));
  if (!there) return UnknownTable(drop.name, path.ToString(), catalog_, source_);
  RETURN_IF_ERROR(AtName(externals().DropTable(path), drop.name.range));
  return Done(fmt::format("table '{}' dropped", path.ToString()));
}

}  // namespace caudal::sql
