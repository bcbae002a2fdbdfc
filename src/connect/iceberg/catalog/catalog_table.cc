#include "connect/iceberg/catalog/catalog_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "connect/iceberg/iceberg_types.h"
#include "iceberg/transform.h"

namespace caudal {
namespace {

// "bucket[16]" of column id as 'caudal.partition-by' has it: "bucket(16, `id`)".
std::string TermText(const std::string& transform, const std::string& column) {
  const size_t open = transform.find('[');
  if (transform == "identity") return fmt::format("`{}`", column);
  if (open == std::string::npos) return fmt::format("{}(`{}`)", transform, column);
  return fmt::format("{}({}, `{}`)", transform.substr(0, open),
                     transform.substr(open + 1, transform.size() - open - 2), column);
}

void AddPartitions(const iceberg::TableMetadata& metadata, const iceberg::Schema& schema,
                   ExternalTable* table) {
  const iceberg::PartitionSpec* spec = metadata.FindSpec(metadata.default_spec_id);
  std::string terms;
  std::vector<int> keys;
  bool plain = true;
  for (const iceberg::PartitionField& field : spec->fields) {
    const iceberg::Field* column = schema.FindField(field.source_ids.empty() ? -1 : field.source_ids[0]);
    if (column == nullptr || field.transform == "void") continue;
    terms += fmt::format("{}{}", terms.empty() ? "" : ", ", TermText(field.transform, column->name));
    const auto found =
        std::ranges::find(table->table.columns, column->name, [](const TableColumn& c) { return c.name; });
    plain = plain && field.transform == "identity" && found != table->table.columns.end();
    keys.push_back(static_cast<int>(found - table->table.columns.begin()));
  }
  if (plain) {
    table->table.partition_keys = std::move(keys);
  } else {
    table->own["caudal.partition-by"] = terms;
  }
}

}  // namespace

ExternalTable TableOfSchema(const iceberg::Schema& schema) {
  ExternalTable made;
  for (const iceberg::Field& field : schema.fields) {
    const std::optional<Type> type = SqlTypeOf(field.type);
    if (!type) continue;
    TableColumn column;
    column.name = field.name;
    column.type = type->WithNullable(!field.required);
    column.comment = field.doc.value_or("");
    made.table.columns.push_back(std::move(column));
  }
  return made;
}

ExternalTable TableOf(const iceberg::TableMetadata& metadata) {
  const iceberg::Schema& schema = *metadata.FindSchema(metadata.current_schema_id);
  ExternalTable made = TableOfSchema(schema);
  for (const int32_t id : schema.identifier_field_ids) {
    const iceberg::Field* field = schema.FindField(id);
    for (size_t i = 0; field != nullptr && i < made.table.columns.size(); ++i) {
      if (made.table.columns[i].name == field->name) made.table.primary_key.push_back(static_cast<int>(i));
    }
  }
  for (const auto& [key, value] : metadata.properties) made.own[key] = value;
  const auto comment = metadata.properties.find("comment");
  if (comment != metadata.properties.end()) {
    made.table.comment = comment->second;
    made.own.erase("comment");
  }
  made.own["format-version"] = std::to_string(metadata.format_version);
  AddPartitions(metadata, schema, &made);
  return made;
}

}  // namespace caudal
