#include "sql/show.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/aggregate_function.h"
#include "expr/scalar_function.h"
#include "sql/query_binder.h"
#include "sql/table_name.h"

namespace caudal::sql {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

bool IsShown(std::string_view name, const Show& show) {
  return !show.like || MatchesLike(name, *show.like) != show.not_like;
}

TextResult List(std::string column, std::vector<std::string> names, const Show& show) {
  TextResult result;
  result.columns = {std::move(column)};
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (std::string& name : names) {
    if (!IsShown(name, show)) continue;
    result.rows.push_back({std::move(name)});
  }
  return result;
}

std::string ColumnText(const TableColumn& column) {
  std::string text = fmt::format("  `{}` ", column.name);
  if (column.computed) {
    text += "AS " + column.computed_text;
  } else {
    text += column.type.ToString();
  }
  if (column.kind == TableColumn::Kind::kMetadata) {
    text += " METADATA";
    if (column.metadata_key != column.name) text += " FROM " + Quoted(column.metadata_key);
    if (column.is_virtual) text += " VIRTUAL";
  }
  if (!column.comment.empty()) text += " COMMENT " + Quoted(column.comment);
  return text;
}

std::string NameList(const Table& table, const std::vector<int>& columns) {
  std::string names;
  for (int column : columns) {
    names +=
        fmt::format("{}`{}`", names.empty() ? "" : ", ", table.columns[static_cast<size_t>(column)].name);
  }
  return names;
}

// Whether an option's value is for the connector's eyes alone.
bool IsSecret(std::string_view key) {
  return key.ends_with("password") || key.ends_with("secret") || key.ends_with("token") ||
         key.ends_with("credential") || key.starts_with("header.");
}

// The option as it may be shown: secrets stay placeholders, and one written out is nobody's business, be it
// the password in an url; the rest is as it was written.
std::string Shown(std::string_view key, const std::string& value) {
  if (value.find("${env:") != std::string::npos) return value;
  if (IsSecret(key)) return "***";
  const size_t scheme = value.find("://");
  if (scheme == std::string::npos) return value;
  const size_t at = value.rfind('@');
  const size_t colon = value.find(':', scheme + 3);
  if (at == std::string::npos || colon > at) return value;
  return value.substr(0, colon + 1) + "***" + value.substr(at);
}

// What makes the table anew; one of a catalog outside is made by its columns and properties.
std::string CreateTableText(const Table& table, const Catalog& catalog) {
  const ExternalTable* outside = catalog.externals().FindLoaded(table.name);
  const Options& options = outside == nullptr ? table.options : outside->own;
  std::string text = outside == nullptr ? fmt::format("CREATE TABLE `{}` (\n", table.name)
                                        : fmt::format("CREATE TABLE {} (\n", outside->path.Quoted());
  std::vector<std::string> lines;
  for (const TableColumn& column : table.columns) lines.push_back(ColumnText(column));
  if (table.watermark) {
    lines.push_back(fmt::format("  WATERMARK FOR `{}` AS {}",
                                table.columns[static_cast<size_t>(table.watermark->column)].name,
                                table.watermark->text));
  }
  if (!table.primary_key.empty())
    lines.push_back(fmt::format("  PRIMARY KEY ({}) NOT ENFORCED", NameList(table, table.primary_key)));
  text += fmt::format("{}\n)", fmt::join(lines, ",\n"));
  if (!table.comment.empty()) text += "\nCOMMENT " + Quoted(table.comment);
  if (!table.partition_keys.empty())
    text += fmt::format("\nPARTITIONED BY ({})", NameList(table, table.partition_keys));
  lines.clear();
  for (const auto& [key, value] : options) {
    lines.push_back(fmt::format("  {} = {}", Quoted(key), Quoted(Shown(key, value))));
  }
  if (lines.empty()) return text + "\n";
  return text + fmt::format("\nWITH (\n{}\n)\n", fmt::join(lines, ",\n"));
}

std::vector<std::string> ColumnRow(const Table& table, size_t index) {
  const TableColumn& column = table.columns[index];
  std::string type = column.type.WithNullable(true).ToString();
  const bool time = table.watermark && table.watermark->column == static_cast<int>(index);
  if (time) type += " *ROWTIME*";
  const bool key = std::ranges::find(table.primary_key, static_cast<int>(index)) != table.primary_key.end();
  std::string extras;
  if (column.computed) extras = "AS " + column.computed_text;
  if (column.kind == TableColumn::Kind::kMetadata) {
    extras = "METADATA";
    if (column.metadata_key != column.name) extras += " FROM " + Quoted(column.metadata_key);
    if (column.is_virtual) extras += " VIRTUAL";
  }
  return {column.name,
          type,
          column.type.nullable() ? "TRUE" : "FALSE",
          key ? fmt::format("PRI({})",
                            [&] {
                              std::string names;
                              for (int each : table.primary_key)
                                names += (names.empty() ? "" : ", ") +
                                         table.columns[static_cast<size_t>(each)].name;
                              return names;
                            }())
              : "<NULL>",
          extras.empty() ? "<NULL>" : extras,
          time ? table.watermark->text : "<NULL>"};
}

Status Unknown(const ObjectName& name, const SourceText& source) {
  return ErrorAt(source, name.range, fmt::format("unknown table or view '{}'", name.parts.back().text))
      .Hint("SHOW TABLES lists what there is");
}

// What the session has in the database, and what is outside.
Result<std::vector<std::string>> ObjectNames(const ObjectPath& database, const Catalog& catalog,
                                             const SourceText& source, SourceRange range) {
  std::vector<std::string> names = catalog.TableNames();
  for (std::string& view : catalog.ViewNames()) names.push_back(std::move(view));
  ObjectPath prefix = database;
  const bool outside = IsOutside(database);
  const std::string begin = outside ? prefix.ToString() : "";
  std::vector<std::string> shown;
  for (std::string& name : names) {
    if (name.starts_with(begin)) shown.push_back(name.substr(begin.size()));
  }
  if (!outside) return shown;
  Result<std::vector<std::string>> tables =
      catalog.externals().Find(database.catalog)->Tables(database.database);
  if (!tables.ok()) return std::move(tables).status().At(source.Frame(range));
  for (std::string& table : *tables) shown.push_back(std::move(table));
  return shown;
}

// Of SHOW TABLES [FROM [catalog.]database].
Result<std::vector<std::string>> ShownTables(const Show& show, const Catalog& catalog,
                                             const SourceText& source) {
  ObjectPath database{catalog.current().catalog, catalog.current().database, ""};
  if (!show.name.parts.empty()) {
    ASSIGN_OR_RETURN(database, ResolveDatabase(show.name, catalog, source));
    Result<bool> there = database.database == kDefaultDatabase;
    if (IsOutside(database)) there = catalog.externals().HasDatabase(database.catalog, database.database);
    if (!there.ok()) return std::move(there).status().At(source.Frame(show.name.range));
    if (!*there) {
      return ErrorAt(source, show.name.range,
                     fmt::format("catalog '{}' has no database '{}'", database.catalog, database.database));
    }
  }
  return ObjectNames(database, catalog, source, show.name.range);
}

Result<std::vector<std::string>> ShownDatabases(const Show& show, const Catalog& catalog,
                                                const SourceText& source) {
  std::string name = catalog.current().catalog;
  if (!show.name.parts.empty()) {
    if (show.name.parts.size() > 1)
      return ErrorAt(source, show.name.range, "a catalog has a name of one part");
    name = show.name.parts[0].text;
  }
  if (name == kDefaultCatalog) return std::vector<std::string>{std::string(kDefaultDatabase)};
  ExternalCatalog* outside = catalog.externals().Find(name);
  if (outside == nullptr) return UnknownCatalog(show.name.parts[0], catalog, source);
  Result<std::vector<std::string>> names = outside->Databases();
  if (!names.ok()) return std::move(names).status().At(source.Frame(show.name.range));
  names->push_back(outside->default_database());
  return names;
}

Result<TextResult> ShowCreateCatalog(const Show& show, const Catalog& catalog, const SourceText& source) {
  const Name& name = show.name.parts.back();
  if (show.name.parts.size() > 1 || catalog.externals().Find(name.text) == nullptr)
    return UnknownCatalog(name, catalog, source);
  std::vector<std::string> lines;
  for (const auto& [key, value] : catalog.externals().DeclaredOptions(name.text)) {
    if (key != "connector") lines.push_back(fmt::format("  {} = {}", Quoted(key), Quoted(Shown(key, value))));
  }
  return TextResult{
      {"result"},
      {{fmt::format("CREATE CATALOG `{}`\nWITH (\n{}\n)\n", name.text, fmt::join(lines, ",\n"))}}};
}

// SHOW CREATE TABLE and SHOW CREATE VIEW.
Result<TextResult> ShowCreated(const Show& show, const Catalog& catalog, const SourceText& source) {
  ASSIGN_OR_RETURN(std::string name, TableName(show.name, catalog, source));
  const Table* table = catalog.FindTable(name);
  const View* view = catalog.FindView(name);
  if (show.kind == ShowKind::kCreateTable && table != nullptr)
    return TextResult{{"result"}, {{CreateTableText(*table, catalog)}}};
  if (show.kind == ShowKind::kCreateView && view != nullptr) {
    std::string columns;
    for (const std::string& column : view->columns)
      columns += fmt::format("{}`{}`", columns.empty() ? "" : ", ", column);
    if (!columns.empty()) columns = fmt::format(" ({})", columns);
    return TextResult{{"result"},
                      {{fmt::format("CREATE VIEW `{}`{} AS {}\n", view->name, columns, view->query)}}};
  }
  if (table != nullptr || view != nullptr) {
    return ErrorAt(source, show.name.range,
                   fmt::format("'{}' is a {}", name, table != nullptr ? "table" : "view"))
        .Hint(fmt::format("write SHOW CREATE {}", table != nullptr ? "TABLE" : "VIEW"));
  }
  return Unknown(show.name, source);
}

}  // namespace

bool MatchesLike(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '%') {
    for (size_t skip = 0; skip <= text.size(); ++skip) {
      if (MatchesLike(text.substr(skip), pattern.substr(1))) return true;
    }
    return false;
  }
  return !text.empty() && (pattern[0] == '_' || pattern[0] == text[0]) &&
         MatchesLike(text.substr(1), pattern.substr(1));
}

Result<TextResult> ShowObjects(const Show& show, const Catalog& catalog, const SourceText& source) {
  switch (show.kind) {
    case ShowKind::kTables: {
      ASSIGN_OR_RETURN(std::vector<std::string> names, ShownTables(show, catalog, source));
      return List("table name", std::move(names), show);
    }
    case ShowKind::kDatabases: {
      ASSIGN_OR_RETURN(std::vector<std::string> names, ShownDatabases(show, catalog, source));
      return List("database name", std::move(names), show);
    }
    case ShowKind::kCatalogs: {
      std::vector<std::string> names = catalog.externals().Names();
      names.emplace_back(kDefaultCatalog);
      return List("catalog name", std::move(names), show);
    }
    case ShowKind::kCurrentCatalog:
      return TextResult{{"current catalog name"}, {{catalog.current().catalog}}};
    case ShowKind::kCurrentDatabase:
      return TextResult{{"current database name"}, {{catalog.current().database}}};
    case ShowKind::kCreateCatalog:
      return ShowCreateCatalog(show, catalog, source);
    case ShowKind::kViews:
      return List("view name", catalog.ViewNames(), show);
    case ShowKind::kFunctions: {
      std::vector<std::string> names;
      for (const ScalarFunction& function : ScalarFunctions()) names.emplace_back(function.name);
      for (const AggregateFunction& function : AggregateFunctions()) names.emplace_back(function.name);
      for (std::string_view name : {"TUMBLE", "HOP", "SESSION", "DEDUPLICATE", "ROW_NUMBER"})
        names.emplace_back(name);
      return List("function name", std::move(names), show);
    }
    case ShowKind::kColumns: {
      ASSIGN_OR_RETURN(TextResult columns, DescribeObject(show.name, catalog, source));
      std::erase_if(columns.rows,
                    [&show](const std::vector<std::string>& row) { return !IsShown(row[0], show); });
      return columns;
    }
    case ShowKind::kCreateTable:
    case ShowKind::kCreateView:
      break;
  }
  return ShowCreated(show, catalog, source);
}

Result<TextResult> DescribeObject(const ObjectName& object, const Catalog& catalog,
                                  const SourceText& source) {
  ASSIGN_OR_RETURN(std::string name, TableName(object, catalog, source));
  TextResult result;
  result.columns = {"name", "type", "null", "key", "extras", "watermark"};
  if (const Table* table = catalog.FindTable(name)) {
    for (size_t i = 0; i < table->columns.size(); ++i) result.rows.push_back(ColumnRow(*table, i));
    return result;
  }
  if (catalog.FindView(name) == nullptr) return Unknown(object, source);
  PlanBuilder scratch;
  QueryBinder binder(&catalog, &scratch, /*batch=*/true);
  ASSIGN_OR_RETURN(Relation relation, binder.BindName(object, {}, BindContext{&source, name}));
  const int time = scratch.node(relation.node).time_column;
  for (int i = 0; i < relation.scope.columns.size(); ++i) {
    const Field& field = relation.scope.columns[i];
    result.rows.push_back({field.name,
                           field.type.WithNullable(true).ToString() + (i == time ? " *ROWTIME*" : ""),
                           field.type.nullable() ? "TRUE" : "FALSE", "<NULL>", "<NULL>", "<NULL>"});
  }
  return result;
}

}  // namespace caudal::sql
