#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_document.h"
#include "iceberg/metadata/partition_json.h"
#include "iceberg/metadata/snapshot_json.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kNoSnapshot = -1;  // what Java writes for "none"

void ReadSchemas(JsonFields& object, TableMetadata* table, Status* error) {
  if (table->format_version == 1 && !object.Has("schemas")) {
    table->schemas.push_back(SchemaFromJson(object.Object("schema"), "schema", error));
    table->current_schema_id = table->schemas[0].schema_id;
    return;
  }
  object.Find("schema");  // format 1 keeps the current one here as well
  const Json& schemas = object.Array("schemas");
  for (size_t i = 0; i < schemas.size(); ++i) {
    table->schemas.push_back(SchemaFromJson(schemas[i], object.Place("schemas", i), error));
  }
  table->current_schema_id = object.Int("current-schema-id");
}

void ReadSpecs(JsonFields& object, TableMetadata* table, Status* error) {
  if (table->format_version == 1 && !object.Has("partition-specs")) {
    PartitionSpec spec;
    spec.fields = SpecFieldsFromJson(object.Array("partition-spec"), "partition-spec", error);
    for (const PartitionField& field : spec.fields) {
      table->last_partition_id = std::max(table->last_partition_id, field.field_id);
    }
    table->partition_specs.push_back(std::move(spec));
    return;
  }
  object.Find("partition-spec");
  const Json& specs = object.Array("partition-specs");
  for (size_t i = 0; i < specs.size(); ++i) {
    table->partition_specs.push_back(SpecFromJson(specs[i], object.Place("partition-specs", i), error));
  }
  table->default_spec_id = object.Int("default-spec-id");
  table->last_partition_id = object.Int("last-partition-id");
}

void ReadSortOrders(JsonFields& object, TableMetadata* table, Status* error) {
  if (table->format_version == 1 && !object.Has("sort-orders")) {
    table->sort_orders.emplace_back();
    return;
  }
  const Json& orders = object.Array("sort-orders");
  for (size_t i = 0; i < orders.size(); ++i) {
    table->sort_orders.push_back(SortOrderFromJson(orders[i], object.Place("sort-orders", i), error));
  }
  table->default_sort_order_id = object.Int("default-sort-order-id");
}

void ReadSnapshots(JsonFields& object, TableMetadata* table, Status* error) {
  table->current_snapshot_id = object.OptionalInteger("current-snapshot-id");
  if (table->current_snapshot_id == kNoSnapshot) table->current_snapshot_id.reset();
  const Json& snapshots = object.OptionalArray("snapshots");
  for (size_t i = 0; i < snapshots.size(); ++i) {
    table->snapshots.push_back(
        SnapshotFromJson(snapshots[i], table->format_version, object.Place("snapshots", i), error));
  }
  if (object.Has("refs")) {
    for (const auto& [name, ref] : object.Object("refs").items()) {
      table->refs[name] = RefFromJson(ref, object.Place("refs") + "." + name, error);
    }
  }
  if (table->current_snapshot_id && table->refs.find("main") == table->refs.end()) {
    table->refs["main"] = {.snapshot_id = *table->current_snapshot_id, .type = "branch"};
  }
}

void ReadLogs(JsonFields& object, TableMetadata* table, Status* error) {
  const Json& snapshots = object.OptionalArray("snapshot-log");
  for (size_t i = 0; i < snapshots.size(); ++i) {
    JsonFields entry(snapshots[i], object.Place("snapshot-log", i), error);
    table->snapshot_log.push_back({entry.Integer("timestamp-ms"), entry.Integer("snapshot-id")});
  }
  const Json& files = object.OptionalArray("metadata-log");
  for (size_t i = 0; i < files.size(); ++i) {
    JsonFields entry(files[i], object.Place("metadata-log", i), error);
    table->metadata_log.push_back({entry.Integer("timestamp-ms"), entry.Text("metadata-file")});
  }
}

template <typename List, typename Key>
Status CheckUnique(const List& list, Key key, std::string_view what) {
  std::set<int64_t> seen;
  for (const auto& item : list) {
    if (!seen.insert(key(item)).second)
      return Status::Data(fmt::format("{} {} is listed twice", what, key(item)));
  }
  return {};
}

Status CheckFieldIds(const std::vector<Field>& fields, std::set<int32_t>* seen) {
  for (const Field& field : fields) {
    if (!seen->insert(field.id).second) {
      return Status::Data(fmt::format("field id {} ('{}') occurs twice in one schema", field.id, field.name));
    }
    RETURN_IF_ERROR(CheckFieldIds(field.type.fields, seen));
  }
  return {};
}

// What every use of the metadata takes for granted.
Status CheckReferences(const TableMetadata& table) {
  RETURN_IF_ERROR(CheckUnique(
      table.schemas, [](const Schema& s) { return s.schema_id; }, "schema"));
  RETURN_IF_ERROR(CheckUnique(
      table.partition_specs, [](const PartitionSpec& s) { return s.spec_id; }, "partition spec"));
  RETURN_IF_ERROR(CheckUnique(
      table.sort_orders, [](const SortOrder& s) { return s.order_id; }, "sort order"));
  RETURN_IF_ERROR(CheckUnique(
      table.snapshots, [](const Snapshot& s) { return s.snapshot_id; }, "snapshot"));
  for (const Schema& schema : table.schemas) {
    std::set<int32_t> seen;
    RETURN_IF_ERROR(CheckFieldIds(schema.fields, &seen));
  }
  const auto missing = [](std::string_view what, int64_t id) {
    return Status::Data(fmt::format("{} {} is not among those listed", what, id));
  };
  if (table.FindSchema(table.current_schema_id) == nullptr)
    return missing("current-schema-id", table.current_schema_id);
  if (table.FindSpec(table.default_spec_id) == nullptr)
    return missing("default-spec-id", table.default_spec_id);
  if (std::none_of(table.sort_orders.begin(), table.sort_orders.end(),
                   [&](const SortOrder& order) { return order.order_id == table.default_sort_order_id; })) {
    return missing("default-sort-order-id", table.default_sort_order_id);
  }
  if (table.current_snapshot_id && table.FindSnapshot(*table.current_snapshot_id) == nullptr) {
    return missing("current-snapshot-id", *table.current_snapshot_id);
  }
  for (const auto& [name, ref] : table.refs) {
    if (table.FindSnapshot(ref.snapshot_id) == nullptr)
      return missing("the snapshot of ref '" + name + "',", ref.snapshot_id);
  }
  const SnapshotRef* main = table.FindRef("main");
  if (main != nullptr && main->snapshot_id != table.current_snapshot_id) {
    return Status::Data(fmt::format("the ref 'main' is at snapshot {}, the table at {}", main->snapshot_id,
                                    table.current_snapshot_id.value_or(kNoSnapshot)));
  }
  return {};
}

template <typename List, typename Write>
Json ListToJson(const List& list, Write write) {
  Json json = Json::array();
  for (const auto& item : list) json.push_back(write(item));
  return json;
}

// Those of a table that is committed to for long are nearly all of its text.
void AddSnapshots(const TableMetadata& table, std::string* text) {
  *text += R"("snapshots":[)";
  for (size_t i = 0; i < table.snapshots.size(); ++i) {
    if (i > 0) *text += ',';
    *text += table.snapshots.Text(i);
  }
  *text += R"(],"snapshot-log":[)";
  for (const SnapshotLogEntry& entry : table.snapshot_log) {
    if (text->back() != '[') *text += ',';
    fmt::format_to(std::back_inserter(*text), R"({{"timestamp-ms":{},"snapshot-id":{}}})", entry.timestamp_ms,
                   entry.snapshot_id);
  }
  *text += ']';
}

// The members behind the snapshots.
Json RestToJson(const TableMetadata& table) {
  Json json;
  json["metadata-log"] = ListToJson(table.metadata_log, [](const MetadataLogEntry& entry) {
    return Json{{"timestamp-ms", entry.timestamp_ms}, {"metadata-file", entry.metadata_file}};
  });
  WriteUnknown(table.unknown, &json);
  return json;
}

}  // namespace

Result<TableMetadata> ParseTableMetadata(std::string_view text) {
  ASSIGN_OR_RETURN(const Json document, ParseJsonDocument(text));
  Status error;
  JsonFields object(document, "", &error);
  TableMetadata table;
  table.format_version = object.Int("format-version");
  if (error.ok() && (table.format_version < 1 || table.format_version > kNewestFormat)) {
    return Status::Data(fmt::format("the table is of format version {}", table.format_version))
        .Hint(fmt::format("versions 1 to {} are read", kNewestFormat));
  }
  const bool first_format = table.format_version == 1;
  table.table_uuid =
      first_format ? object.OptionalText("table-uuid").value_or("") : object.Text("table-uuid");
  table.location = object.Text("location");
  table.last_sequence_number = first_format ? object.OptionalInteger("last-sequence-number").value_or(0)
                                            : object.Integer("last-sequence-number");
  table.last_updated_ms = object.Integer("last-updated-ms");
  table.last_column_id = object.Int("last-column-id");
  if (table.format_version >= 3) table.next_row_id = object.Integer("next-row-id");
  ReadSchemas(object, &table, &error);
  ReadSpecs(object, &table, &error);
  ReadSortOrders(object, &table, &error);
  if (object.Has("properties"))
    table.properties = TextsFromJson(object.Object("properties"), "properties", &error);
  ReadSnapshots(object, &table, &error);
  ReadLogs(object, &table, &error);
  table.unknown = object.Unknown();
  if (error.ok()) error = CheckReferences(table);
  if (!error.ok()) return error;
  return table;
}

Result<std::string> TableMetadataText(const TableMetadata& table) {
  if (table.format_version < kOldestWritten || table.format_version > kNewestFormat) {
    return Status::User(fmt::format("tables of format version {} are not written", table.format_version))
        .Hint(fmt::format("upgrade the table to format version {}", kOldestWritten));
  }
  Json json = {{"format-version", table.format_version}, {"table-uuid", table.table_uuid}};
  json["location"] = table.location;
  json["last-sequence-number"] = table.last_sequence_number;
  json["last-updated-ms"] = table.last_updated_ms;
  json["last-column-id"] = table.last_column_id;
  json["current-schema-id"] = table.current_schema_id;
  json["schemas"] = ListToJson(table.schemas, SchemaToJson);
  json["default-spec-id"] = table.default_spec_id;
  json["partition-specs"] = ListToJson(table.partition_specs, SpecToJson);
  json["last-partition-id"] = table.last_partition_id;
  json["default-sort-order-id"] = table.default_sort_order_id;
  json["sort-orders"] = ListToJson(table.sort_orders, SortOrderToJson);
  json["properties"] = Json::object();
  for (const auto& [name, value] : table.properties) json["properties"][name] = value;
  // Older readers know no other form of "none".
  if (table.current_snapshot_id || table.format_version < 3) {
    json["current-snapshot-id"] = table.current_snapshot_id.value_or(kNoSnapshot);
  }
  if (table.format_version >= 3) json["next-row-id"] = table.next_row_id;
  json["refs"] = Json::object();
  for (const auto& [name, ref] : table.refs) json["refs"][name] = RefToJson(ref);
  std::string text = json.dump();
  text.back() = ',';  // it goes on
  AddSnapshots(table, &text);
  const std::string rest = RestToJson(table).dump();
  text += ',';
  return text.append(rest, 1);
}

}  // namespace caudal::iceberg
