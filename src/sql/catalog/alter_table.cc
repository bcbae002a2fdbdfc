#include <fmt/format.h>

#include "sql/catalog/catalog_statements.h"
#include "sql/literal/type_binder.h"
#include "sql/table_name.h"

namespace caudal::sql {

namespace {

Result<SetKey> BindKey(const std::vector<PrimaryKeyDefinition>& keys, const SourceText& source) {
  const PrimaryKeyDefinition& key = keys.front();
  if (keys.size() > 1) return ErrorAt(source, keys[1].range, "a table has one PRIMARY KEY only");
  if (!key.not_enforced) {
    return ErrorAt(source, key.range, "a PRIMARY KEY cannot be enforced")
        .Hint("write PRIMARY KEY … NOT ENFORCED");
  }
  SetKey set;
  for (const Name& name : key.columns) set.columns.push_back(name.text);
  return set;
}

}  // namespace

Result<TableChange> CatalogStatements::BindColumn(const AlterTable::Column& column, bool add) const {
  const ColumnDefinition& definition = column.definition;
  if (definition.computed || definition.metadata) {
    return Fail(definition.range, "a catalog keeps stored columns alone")
        .Hint("declare it for the session: CREATE TEMPORARY TABLE t (…) LIKE …");
  }
  TableColumn bound;
  bound.name = definition.name.text;
  bound.comment = definition.comment.value_or("");
  ASSIGN_OR_RETURN(bound.type, BindType(*definition.type, source_));
  ColumnPlace place{column.position.first, column.position.after ? column.position.after->text : ""};
  if (add) return TableChange(AddColumn{std::move(bound), std::move(place)});
  return TableChange(ModifyColumn{std::move(bound), std::move(place), definition.comment.has_value()});
}

Result<std::vector<TableChange>> CatalogStatements::BindChange(const AlterTable::Change& change) const {
  std::vector<TableChange> changes;
  const auto bind_components = [&](const auto& components, bool add) -> Status {
    for (const AlterTable::Column& column : components.columns) {
      ASSIGN_OR_RETURN(changes.emplace_back(), BindColumn(column, add));
    }
    if (components.primary_keys.empty()) return Status();
    ASSIGN_OR_RETURN(changes.emplace_back(), BindKey(components.primary_keys, source_));
    return Status();
  };
  if (const auto* add = std::get_if<AlterTable::Add>(&change)) {
    RETURN_IF_ERROR(bind_components(*add, true));
  } else if (const auto* modify = std::get_if<AlterTable::Modify>(&change)) {
    RETURN_IF_ERROR(bind_components(*modify, false));
  } else if (const auto* drop = std::get_if<AlterTable::Drop>(&change)) {
    if (drop->primary_key) changes.emplace_back(SetKey{});
    for (const Name& column : drop->columns) changes.emplace_back(DropColumn{column.text});
  } else if (const auto* rename = std::get_if<AlterTable::RenameColumn>(&change)) {
    changes.emplace_back(RenameColumn{rename->name.text, rename->to.text});
  } else if (const auto* set = std::get_if<AlterTable::SetOptions>(&change)) {
    SetOptions options;
    for (const Option& option : set->options) options.options[option.key] = option.value;
    changes.emplace_back(std::move(options));
  } else if (const auto* reset = std::get_if<AlterTable::ResetOptions>(&change)) {
    ResetOptions options;
    for (const Name& name : reset->names) options.names.push_back(name.text);
    changes.emplace_back(std::move(options));
  }
  return changes;
}

Result<StatementDone> CatalogStatements::Execute(const AlterTable& alter) {
  ASSIGN_OR_RETURN(const ObjectPath path, ResolvePath(alter.name, catalog_, source_));
  const std::string name = NameInCatalog(path);
  if (!IsOutside(path) || catalog_.TableIsOfSession(name)) {
    return NotBuiltAt(source_, alter.name.range, "ALTER TABLE of a table that the session declares")
        .Hint("drop it, and declare it as it is to be");
  }
  ASSIGN_OR_RETURN(const bool there, HasTable(path, alter.name.range));
  if (!there && alter.if_exists) return StatementDone{fmt::format("there is no table '{}'", name)};
  if (!there) return UnknownTable(alter.name, name, catalog_, source_);
  if (const auto* rename = std::get_if<AlterTable::RenameTo>(&alter.change)) {
    const CurrentDatabase here{path.catalog, path.database};
    ASSIGN_OR_RETURN(const ObjectPath to, ResolvePath(rename->to, catalog_, source_, &here));
    if (to.catalog != path.catalog || to.database != path.database) {
      return Fail(rename->to.range, "a table keeps its catalog and database")
          .Hint("give it a new name alone");
    }
    RETURN_IF_ERROR(AtName(externals().RenameTable(path, to.name), rename->to.range));
    return StatementDone{fmt::format("table '{}' renamed to '{}'", name, to.name)};
  }
  ASSIGN_OR_RETURN(const std::vector<TableChange> changes, BindChange(alter.change));
  RETURN_IF_ERROR(AtName(externals().AlterTable(path, changes), alter.name.range));
  return StatementDone{fmt::format("table '{}' altered", name)};
}

}  // namespace caudal::sql
