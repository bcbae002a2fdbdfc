#include "connect/iceberg/iceberg_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "connect/iceberg/iceberg_types.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/partition_by.h"

namespace caudal {
namespace {

bool SameButCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// PARTITIONED BY (region) and 'day(ts)' are one text.
std::string PartitionText(const Table& table, const IcebergOptions& options) {
  std::string text;
  for (const int key : table.partition_keys) {
    text += fmt::format("{}`{}`", text.empty() ? "" : ", ", table.columns[static_cast<size_t>(key)].name);
  }
  if (text.empty() || options.partition_by.empty()) return text + options.partition_by;
  return text + ", " + options.partition_by;
}

std::string SpecText(const iceberg::Schema& schema, const iceberg::PartitionSpec& spec) {
  std::string text;
  for (const iceberg::PartitionField& field : spec.fields) {
    const iceberg::Field* column = schema.FindField(field.source_ids.empty() ? -1 : field.source_ids[0]);
    text += fmt::format("{}{}({})", text.empty() ? "" : ", ", field.transform,
                        column == nullptr ? "?" : column->name);
  }
  return text.empty() ? "not partitioned" : "partitioned by " + text;
}

Result<int32_t> MatchColumn(const Field& column, const iceberg::Schema& schema, int format_version) {
  for (const iceberg::Field& field : schema.fields) {
    if (field.name != column.name) continue;
    ASSIGN_OR_RETURN(const iceberg::Type type, IcebergTypeOf(column, format_version));
    if (type != field.type) {
      return Status::User(fmt::format("column '{}' is declared as {}, and the table has it as {}",
                                      column.name, column.type.ToString(), iceberg::TypeText(field.type)));
    }
    if (field.required && column.type.nullable()) {
      return Status::User(
                 fmt::format("column '{}' is required in the table, and rows may bring NULL", column.name))
          .Hint("declare it NOT NULL");
    }
    return field.id;
  }
  for (const iceberg::Field& field : schema.fields) {
    if (!SameButCase(field.name, column.name)) continue;
    return Status::User(fmt::format("column '{}' is named '{}' in the table", column.name, field.name))
        .Hint("names are taken as they are: write the column as the table has it");
  }
  return Status::User(fmt::format("the table has no column '{}'", column.name))
      .Hint("leave it out of the declaration, or add it to the table");
}

// What rows do not bring must be allowed to be NULL.
Status CheckMissing(const iceberg::Field& field) {
  if (field.required) {
    return Status::User(fmt::format("column '{}' of the table is required, and is not declared", field.name))
        .Hint("declare it, and give it a value");
  }
  if (!field.initial_default && !field.write_default) return Status();
  return Status::User(
             fmt::format("column '{}' of the table has a default, which is not written yet", field.name))
      .Hint("declare it, and give it a value");
}

Status CheckSpec(const Table& declared, const IcebergOptions& options, const iceberg::TableMetadata& table) {
  const iceberg::Schema& schema = *table.FindSchema(table.current_schema_id);
  const iceberg::PartitionSpec& spec = *table.FindSpec(table.default_spec_id);
  for (const iceberg::PartitionField& field : spec.fields) {
    if (field.source_ids.size() != 1) {
      return Status::User(fmt::format("the partition field '{}' is made of several columns", field.name))
          .Hint("tables with such a field are not written yet");
    }
    const iceberg::Field* column = schema.FindField(field.source_ids[0]);
    if (field.transform == "void" || column == nullptr || declared.FindColumn(column->name) != nullptr)
      continue;
    return Status::User(
        fmt::format("the table is partitioned by column '{}', which is not declared", column->name));
  }
  RETURN_IF_ERROR(iceberg::PartitionTypes(schema, spec).status());
  const std::string text = PartitionText(declared, options);
  if (text.empty()) return Status();
  ASSIGN_OR_RETURN(const iceberg::PartitionSpec wanted, iceberg::ParsePartitionBy(text, schema));
  const bool same = std::equal(wanted.fields.begin(), wanted.fields.end(), spec.fields.begin(),
                               spec.fields.end(), [](const auto& a, const auto& b) {
                                 return a.source_ids == b.source_ids && a.transform == b.transform;
                               });
  if (same) return Status();
  return Status::User(
             fmt::format("the table is {}, and the declaration says '{}'", SpecText(schema, spec), text))
      .Hint("leave 'caudal.partition-by' out: rows go where the table says");
}

}  // namespace

Result<Schema> StoredColumns(const Table& table) {
  Schema stored;
  for (const TableColumn& column : table.columns) {
    if (column.kind == TableColumn::Kind::kComputed || column.is_virtual) continue;
    if (column.kind == TableColumn::Kind::kMetadata) {
      return Status::User(fmt::format("table '{}': metadata column '{}' cannot be written to Iceberg",
                                      table.name, column.name))
          .Hint("declare it VIRTUAL");
    }
    stored.fields.push_back({column.name, column.type});
  }
  if (stored.fields.empty()) return Status::User(fmt::format("table '{}' stores no column", table.name));
  return stored;
}

Result<iceberg::NewTable> NewIcebergTable(const Table& table, const IcebergOptions& options) {
  if (options.warehouse.empty() && options.catalog_type != IcebergOptions::CatalogType::kRest) {
    return Status::User(fmt::format("table '{}' is not there, and 'warehouse' does not say where to make it",
                                    options.name.ToString()))
        .Hint("add 'warehouse' = '/path'");
  }
  iceberg::NewTable made;
  made.format_version = options.format_version;
  made.properties = options.properties;
  made.properties.emplace(kCodecProperty, "zstd");
  ASSIGN_OR_RETURN(const Schema stored, StoredColumns(table));
  for (const Field& column : stored.fields) {
    for (const iceberg::Field& other : made.schema.fields) {
      if (!SameButCase(other.name, column.name)) continue;
      return Status::User(
                 fmt::format("the columns '{}' and '{}' differ by case alone", other.name, column.name))
          .Hint("rename one: other engines read names of any case");
    }
    iceberg::Field field;
    field.id = static_cast<int32_t>(made.schema.fields.size()) + 1;
    field.name = column.name;
    field.required = !column.type.nullable();
    ASSIGN_OR_RETURN(field.type, IcebergTypeOf(column, options.format_version));
    const TableColumn* declared = table.FindColumn(column.name);
    if (declared != nullptr && !declared->comment.empty()) field.doc = declared->comment;
    made.schema.fields.push_back(std::move(field));
  }
  for (const int column : table.primary_key) {
    const std::string& name = table.columns[static_cast<size_t>(column)].name;
    for (const iceberg::Field& field : made.schema.fields) {
      // Other engines want no floating-point number, nor one that may be NULL, in a key.
      const bool real = field.type.id == iceberg::TypeId::kFloat || field.type.id == iceberg::TypeId::kDouble;
      if (field.name == name && field.required && !real) made.schema.identifier_field_ids.push_back(field.id);
    }
  }
  if (made.schema.identifier_field_ids.size() != table.primary_key.size())
    made.schema.identifier_field_ids.clear();
  if (!table.comment.empty()) made.properties.emplace("comment", table.comment);
  ASSIGN_OR_RETURN(made.spec, iceberg::ParsePartitionBy(PartitionText(table, options), made.schema));
  return made;
}

Result<std::vector<int32_t>> MatchColumns(const Table& declared, const IcebergOptions& options,
                                          const iceberg::TableMetadata& table) {
  if (table.format_version < iceberg::kOldestWritten) {
    return Status::User("the table is of format 1, which is read and not written")
        .Hint("upgrade it to format 2 with the engine that made it");
  }
  if (declared.options.contains("format-version") && options.format_version != table.format_version) {
    return Status::User(fmt::format("the table is of format {}, and 'format-version' is '{}'",
                                    table.format_version, options.format_version))
        .Hint("leave 'format-version' out");
  }
  const iceberg::Schema& schema = *table.FindSchema(table.current_schema_id);
  ASSIGN_OR_RETURN(const Schema stored, StoredColumns(declared));
  std::vector<int32_t> ids;
  for (const Field& column : stored.fields) {
    ASSIGN_OR_RETURN(const int32_t id, MatchColumn(column, schema, table.format_version));
    ids.push_back(id);
  }
  for (const iceberg::Field& field : schema.fields) {
    if (!stored.Find(field.name).has_value()) RETURN_IF_ERROR(CheckMissing(field));
  }
  RETURN_IF_ERROR(CheckSpec(declared, options, table));
  return ids;
}

}  // namespace caudal
