#include "iceberg/catalog/new_metadata.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "iceberg/manifest/manifest_schema.h"

namespace caudal::iceberg {
namespace {

constexpr size_t kDefaultMetadataLog = 100;

// The metadata log keeps the files before this one, up to `write.metadata.previous-versions-max`.
void Remember(const LoadedTable& base, TableMetadata* table) {
  table->metadata_log.push_back({base.metadata.last_updated_ms, base.metadata_location});
  size_t most = kDefaultMetadataLog;
  const auto set = table->properties.find("write.metadata.previous-versions-max");
  if (set != table->properties.end()) most = std::max(1, std::atoi(set->second.c_str()));
  if (table->metadata_log.size() > most) {
    table->metadata_log.erase(table->metadata_log.begin(),
                              table->metadata_log.end() - static_cast<int64_t>(most));
  }
}

}  // namespace

Result<TableMetadata> FirstMetadata(const NewTable& created, const std::string& location,
                                    const TableFiles& files) {
  RETURN_IF_ERROR(PartitionTypes(created.schema, created.spec).status());
  TableMetadata table;
  table.format_version = created.format_version;
  table.table_uuid = files.NewUuid();
  table.location = created.location.empty() ? location : created.location;
  table.last_updated_ms = files.env()->NowMillis();
  table.last_column_id = created.schema.HighestId();
  table.schemas = {created.schema};
  table.current_schema_id = created.schema.schema_id;
  table.partition_specs = {created.spec};
  table.default_spec_id = created.spec.spec_id;
  for (const PartitionField& field : created.spec.fields) {
    table.last_partition_id = std::max(table.last_partition_id, field.field_id);
  }
  table.sort_orders.emplace_back();
  table.properties = created.properties;
  return table;
}

Result<TableMetadata> NextMetadata(const LoadedTable& base, const TableCommit& commit, int64_t now_ms) {
  RETURN_IF_ERROR(CheckRequirements(base.metadata, commit.requirements));
  ASSIGN_OR_RETURN(TableMetadata table, ApplyUpdates(base.metadata, commit.updates, now_ms));
  Remember(base, &table);
  return table;
}

void RemoveForgotten(const TableFiles& files, const TableMetadata& before, const TableMetadata& after) {
  const auto said = after.properties.find("write.metadata.delete-after-commit.enabled");
  if (said == after.properties.end() || said->second != "true") return;
  std::set<std::string_view> kept;
  for (const MetadataLogEntry& entry : after.metadata_log) kept.insert(entry.metadata_file);
  for (const MetadataLogEntry& entry : before.metadata_log) {
    if (!kept.contains(entry.metadata_file)) (void)files.Remove(entry.metadata_file).ok();
  }
}

}  // namespace caudal::iceberg
