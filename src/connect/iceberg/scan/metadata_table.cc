#include "connect/iceberg/scan/metadata_table.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/partition_path.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal {
namespace {

using Id = iceberg::TypeId;
using Rows = std::vector<std::vector<Value>>;

constexpr std::pair<std::string_view, MetadataKind> kKinds[] = {
    {"snapshots", MetadataKind::kSnapshots},   {"history", MetadataKind::kHistory},
    {"files", MetadataKind::kFiles},           {"manifests", MetadataKind::kManifests},
    {"partitions", MetadataKind::kPartitions}, {"refs", MetadataKind::kRefs}};

constexpr int64_t kMicrosPerMilli = 1'000;

iceberg::Schema Columns(std::initializer_list<std::pair<const char*, Id>> columns) {
  iceberg::Schema schema;
  for (const auto& [name, id] : columns) {
    iceberg::Field& field = schema.fields.emplace_back();
    field.id = static_cast<int32_t>(schema.fields.size());
    field.name = name;
    field.type = iceberg::Type(id);
  }
  return schema;
}

Value Number(int64_t number) { return Value(number); }
Value Number(const std::optional<int64_t>& number) { return number ? Value(*number) : Value(); }
Value Time(int64_t millis) { return Value(millis * kMicrosPerMilli); }
Value Text(std::string text) { return Value(std::move(text)); }

std::string SummaryText(const std::map<std::string, std::string>& summary) {
  return nlohmann::json(summary).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Rows Snapshots(const iceberg::TableMetadata& table) {
  Rows rows;
  for (const iceberg::Snapshot& snapshot : table.snapshots) {
    const auto operation = snapshot.summary.find("operation");
    rows.push_back({Time(snapshot.timestamp_ms), Number(snapshot.snapshot_id),
                    Number(snapshot.parent_snapshot_id),
                    operation == snapshot.summary.end() ? Value() : Text(operation->second),
                    Text(snapshot.manifest_list), Text(SummaryText(snapshot.summary))});
  }
  return rows;
}

Rows History(const iceberg::TableMetadata& table) {
  std::set<int64_t> ancestors;
  for (std::optional<int64_t> id = table.current_snapshot_id; id && ancestors.insert(*id).second;) {
    const iceberg::Snapshot* snapshot = table.FindSnapshot(*id);
    id = snapshot == nullptr ? std::nullopt : snapshot->parent_snapshot_id;
  }
  Rows rows;
  for (const iceberg::SnapshotLogEntry& entry : table.snapshot_log) {
    const iceberg::Snapshot* snapshot = table.FindSnapshot(entry.snapshot_id);
    rows.push_back({Time(entry.timestamp_ms), Number(entry.snapshot_id),
                    snapshot == nullptr ? Value() : Number(snapshot->parent_snapshot_id),
                    Value(ancestors.contains(entry.snapshot_id))});
  }
  return rows;
}

Rows Refs(const iceberg::TableMetadata& table) {
  Rows rows;
  for (const auto& [name, ref] : table.refs) {
    rows.push_back({Text(name), Text(ref.type), Number(ref.snapshot_id), Number(ref.max_ref_age_ms),
                    Number(ref.min_snapshots_to_keep), Number(ref.max_snapshot_age_ms)});
  }
  return rows;
}

Result<Rows> Manifests(const iceberg::TableFiles& files, const iceberg::Snapshot& snapshot) {
  ASSIGN_OR_RETURN(const std::string bytes, files.Read(snapshot.manifest_list));
  ASSIGN_OR_RETURN(const auto manifests, iceberg::ReadManifestList(bytes, snapshot.manifest_list));
  Rows rows;
  for (const iceberg::ManifestFile& manifest : manifests) {
    rows.push_back({Number(static_cast<int64_t>(manifest.content)), Text(manifest.manifest_path),
                    Number(manifest.manifest_length), Number(int64_t{manifest.partition_spec_id}),
                    Number(manifest.added_snapshot_id), Number(int64_t{manifest.added_files_count}),
                    Number(int64_t{manifest.existing_files_count}),
                    Number(int64_t{manifest.deleted_files_count}), Number(manifest.added_rows_count),
                    Number(manifest.existing_rows_count), Number(manifest.deleted_rows_count)});
  }
  return rows;
}

// The folder that the partition of a file is named by.
Result<std::string> PartitionOf(const iceberg::TableMetadata& table, const iceberg::LiveFile& file) {
  const iceberg::PartitionSpec* spec = table.FindSpec(file.spec_id);
  const iceberg::Schema* schema = table.FindSchema(table.current_schema_id);
  if (spec == nullptr) return std::string();
  // A column of the spec may be gone from the current schema.
  Result<std::vector<iceberg::Type>> types = iceberg::PartitionTypes(*schema, *spec);
  for (size_t i = table.schemas.size(); !types.ok() && i > 0; --i) {
    types = iceberg::PartitionTypes(table.schemas[i - 1], *spec);
  }
  if (!types.ok()) return std::move(types).status();
  return iceberg::PartitionPath(*spec, *types, file.file.partition);
}

Result<Rows> Files(const iceberg::TableMetadata& table, const iceberg::ScanPlan& plan) {
  std::vector<const iceberg::LiveFile*> live;
  for (const iceberg::ScanFile& file : plan.files) live.push_back(&file.data);
  for (const iceberg::LiveFile& file : plan.deletes) live.push_back(&file);
  Rows rows;
  for (const iceberg::LiveFile* one : live) {
    const iceberg::DataFile& file = one->file;
    ASSIGN_OR_RETURN(std::string partition, PartitionOf(table, *one));
    rows.push_back({Number(static_cast<int64_t>(file.content)), Text(file.file_path), Text(file.file_format),
                    Number(int64_t{one->spec_id}), Text(std::move(partition)), Number(file.record_count),
                    Number(file.file_size_in_bytes), Number(one->sequence_number), Number(file.first_row_id),
                    file.referenced_data_file ? Text(*file.referenced_data_file) : Value()});
  }
  return rows;
}

Result<Rows> Partitions(const iceberg::TableMetadata& table, const iceberg::ScanPlan& plan) {
  struct Counts {
    int64_t records = 0, files = 0, bytes = 0, deletes = 0;
  };
  std::map<std::pair<int32_t, std::string>, Counts> partitions;
  for (const iceberg::ScanFile& file : plan.files) {
    ASSIGN_OR_RETURN(std::string name, PartitionOf(table, file.data));
    Counts& counts = partitions[{file.data.spec_id, std::move(name)}];
    counts.records += file.data.file.record_count;
    counts.bytes += file.data.file.file_size_in_bytes;
    ++counts.files;
  }
  for (const iceberg::LiveFile& file : plan.deletes) {
    ASSIGN_OR_RETURN(std::string name, PartitionOf(table, file));
    ++partitions[{file.spec_id, std::move(name)}].deletes;
  }
  Rows rows;
  for (const auto& [key, counts] : partitions) {
    rows.push_back({Text(key.second), Number(int64_t{key.first}), Number(counts.records),
                    Number(counts.files), Number(counts.bytes), Number(counts.deletes)});
  }
  return rows;
}

}  // namespace

std::optional<MetadataKind> TakeMetadataKind(std::string* table_name) {
  const size_t dollar = table_name->rfind('$');
  if (dollar == std::string::npos) return std::nullopt;
  for (const auto& [name, kind] : kKinds) {
    if (table_name->compare(dollar + 1, std::string::npos, name) != 0) continue;
    table_name->resize(dollar);
    return kind;
  }
  return std::nullopt;
}

iceberg::Schema MetadataSchema(MetadataKind kind) {
  switch (kind) {
    case MetadataKind::kSnapshots:
      return Columns({{"committed_at", Id::kTimestampTz},
                      {"snapshot_id", Id::kLong},
                      {"parent_id", Id::kLong},
                      {"operation", Id::kString},
                      {"manifest_list", Id::kString},
                      {"summary", Id::kString}});
    case MetadataKind::kHistory:
      return Columns({{"made_current_at", Id::kTimestampTz},
                      {"snapshot_id", Id::kLong},
                      {"parent_id", Id::kLong},
                      {"is_current_ancestor", Id::kBoolean}});
    case MetadataKind::kFiles:
      return Columns({{"content", Id::kInt},
                      {"file_path", Id::kString},
                      {"file_format", Id::kString},
                      {"spec_id", Id::kInt},
                      {"partition", Id::kString},
                      {"record_count", Id::kLong},
                      {"file_size_in_bytes", Id::kLong},
                      {"sequence_number", Id::kLong},
                      {"first_row_id", Id::kLong},
                      {"referenced_data_file", Id::kString}});
    case MetadataKind::kManifests:
      return Columns({{"content", Id::kInt},
                      {"path", Id::kString},
                      {"length", Id::kLong},
                      {"partition_spec_id", Id::kInt},
                      {"added_snapshot_id", Id::kLong},
                      {"added_files_count", Id::kInt},
                      {"existing_files_count", Id::kInt},
                      {"deleted_files_count", Id::kInt},
                      {"added_rows_count", Id::kLong},
                      {"existing_rows_count", Id::kLong},
                      {"deleted_rows_count", Id::kLong}});
    case MetadataKind::kPartitions:
      return Columns({{"partition", Id::kString},
                      {"spec_id", Id::kInt},
                      {"record_count", Id::kLong},
                      {"file_count", Id::kLong},
                      {"total_data_file_size_in_bytes", Id::kLong},
                      {"delete_file_count", Id::kLong}});
    case MetadataKind::kRefs:
      return Columns({{"name", Id::kString},
                      {"type", Id::kString},
                      {"snapshot_id", Id::kLong},
                      {"max_reference_age_in_ms", Id::kLong},
                      {"min_snapshots_to_keep", Id::kLong},
                      {"max_snapshot_age_in_ms", Id::kLong}});
  }
  return {};
}

Result<MetadataTable> ReadMetadataTable(const iceberg::TableFiles& files, const iceberg::TableMetadata& table,
                                        const iceberg::Snapshot* snapshot, MetadataKind kind) {
  MetadataTable read{MetadataSchema(kind), {}};
  switch (kind) {
    case MetadataKind::kSnapshots:
      read.rows = Snapshots(table);
      return read;
    case MetadataKind::kHistory:
      read.rows = History(table);
      return read;
    case MetadataKind::kRefs:
      read.rows = Refs(table);
      return read;
    default:
      break;
  }
  if (snapshot == nullptr) return read;
  if (kind == MetadataKind::kManifests) {
    ASSIGN_OR_RETURN(read.rows, Manifests(files, *snapshot));
    return read;
  }
  ASSIGN_OR_RETURN(const iceberg::ScanPlan plan, PlanScan(files, table, *snapshot));
  ASSIGN_OR_RETURN(read.rows, kind == MetadataKind::kFiles ? Files(table, plan) : Partitions(table, plan));
  return read;
}

}  // namespace caudal
