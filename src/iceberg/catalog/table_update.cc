#include "iceberg/catalog/table_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "iceberg/metadata/statistics_files.h"

namespace caudal::iceberg {
namespace {

constexpr const char* kTryAgain = "another writer committed first; the commit is rebuilt and tried again";

std::string Shown(const std::optional<int64_t>& id) { return id ? std::to_string(*id) : "none"; }

Status Check(const TableMetadata& table, const AssertTableUuid& wanted) {
  if (table.table_uuid == wanted.uuid) return {};
  return Status::User(fmt::format("the table has the uuid {}, not {}", table.table_uuid, wanted.uuid))
      .Hint(
          "it was dropped and made again; start the pipeline with a new state, or bring the old table back");
}

Status Check(const TableMetadata& table, const AssertRefSnapshotId& wanted) {
  const SnapshotRef* ref = table.FindRef(wanted.ref);
  const auto found = ref == nullptr ? std::nullopt : std::optional(ref->snapshot_id);
  if (found == wanted.snapshot_id) return {};
  return Status::External(fmt::format("the branch '{}' is at snapshot {}, not {}", wanted.ref, Shown(found),
                                      Shown(wanted.snapshot_id)),
                          Retry::kBackoff)
      .Hint(kTryAgain);
}

Status Check(const TableMetadata& table, const AssertCurrentSchemaId& wanted) {
  if (table.current_schema_id == wanted.schema_id) return {};
  return Status::External(
             fmt::format("the current schema is {}, not {}", table.current_schema_id, wanted.schema_id),
             Retry::kBackoff)
      .Hint(kTryAgain);
}

Status Check(const TableMetadata& table, const AssertDefaultSpecId& wanted) {
  if (table.default_spec_id == wanted.spec_id) return {};
  return Status::External(
             fmt::format("the default spec is {}, not {}", table.default_spec_id, wanted.spec_id),
             Retry::kBackoff)
      .Hint(kTryAgain);
}

Status Apply(const AddSnapshot& update, TableMetadata* table) {
  const Snapshot& snapshot = update.snapshot;
  if (table->FindSnapshot(snapshot.snapshot_id) != nullptr) {
    return Status::Internal(fmt::format("snapshot {} is already in the table", snapshot.snapshot_id));
  }
  // A commit to another branch leaves this one's head where it was, and still takes the next numbers.
  if (snapshot.sequence_number <= table->last_sequence_number) {
    return Status::External(fmt::format("sequence number {} is taken: the last one is {}",
                                        snapshot.sequence_number, table->last_sequence_number),
                            Retry::kBackoff)
        .Hint(kTryAgain);
  }
  if (table->format_version >= 3) {
    if (!snapshot.first_row_id || !snapshot.added_rows)
      return Status::Internal("a snapshot of format 3 without row ids");
    if (*snapshot.first_row_id < table->next_row_id) {
      return Status::External(fmt::format("row id {} is taken: the next one is {}", *snapshot.first_row_id,
                                          table->next_row_id),
                              Retry::kBackoff)
          .Hint(kTryAgain);
    }
    table->next_row_id = *snapshot.first_row_id + *snapshot.added_rows;
  }
  table->last_sequence_number = snapshot.sequence_number;
  table->last_updated_ms = std::max(table->last_updated_ms, snapshot.timestamp_ms);
  table->snapshots.push_back(snapshot);
  return {};
}

Status Apply(const SetSnapshotRef& update, TableMetadata* table) {
  const Snapshot* snapshot = table->FindSnapshot(update.ref.snapshot_id);
  if (snapshot == nullptr) {
    return Status::Internal(
        fmt::format("ref '{}' to snapshot {}, which is not there", update.name, update.ref.snapshot_id));
  }
  table->refs[update.name] = update.ref;
  if (update.name == "main" && table->current_snapshot_id != snapshot->snapshot_id) {
    table->current_snapshot_id = snapshot->snapshot_id;
    table->snapshot_log.push_back(
        {std::max(table->last_updated_ms, snapshot->timestamp_ms), snapshot->snapshot_id});
  }
  return {};
}

Status Apply(const SetProperties& update, TableMetadata* table) {
  for (const auto& [name, value] : update.properties) table->properties[name] = value;
  return {};
}

Status Apply(const RemoveProperties& update, TableMetadata* table) {
  for (const std::string& name : update.names) table->properties.erase(name);
  return {};
}

Status Apply(const AddSchema& update, TableMetadata* table) {
  Schema schema = update.schema;
  schema.schema_id = 0;
  for (const Schema& known : table->schemas)
    schema.schema_id = std::max(schema.schema_id, known.schema_id + 1);
  table->current_schema_id = schema.schema_id;
  table->last_column_id = std::max(table->last_column_id, schema.HighestId());
  table->schemas.push_back(std::move(schema));
  return {};
}

Status Apply(const SetCurrentSchema& update, TableMetadata* table) {
  if (table->FindSchema(update.schema_id) == nullptr)
    return Status::Internal(fmt::format("the table has no schema {}", update.schema_id));
  table->current_schema_id = update.schema_id;
  return {};
}

Status Apply(const RemoveSnapshotRef& update, TableMetadata* table) {
  if (update.name == "main") return Status::Internal("the branch 'main' cannot be removed");
  table->refs.erase(update.name);
  return {};
}

Status Apply(const RemoveSnapshots& update, TableMetadata* table) {
  const std::set<int64_t> gone(update.ids.begin(), update.ids.end());
  for (const auto& [name, ref] : table->refs) {
    if (!gone.contains(ref.snapshot_id)) continue;
    return Status::External(fmt::format("'{}' is at snapshot {}, which was to go", name, ref.snapshot_id),
                            Retry::kBackoff)
        .Hint(kTryAgain);
  }
  table->snapshots.EraseIf([&](const Snapshot& one) { return gone.contains(one.snapshot_id); });
  // What was current before one that is gone can no longer be told in full.
  std::vector<SnapshotLogEntry> log;
  for (const SnapshotLogEntry& entry : table->snapshot_log) {
    if (gone.contains(entry.snapshot_id)) {
      log.clear();
    } else {
      log.push_back(entry);
    }
  }
  table->snapshot_log = std::move(log);
  ForgetStatistics(gone, table);
  return {};
}

}  // namespace

Status CheckRequirements(const TableMetadata& table, const std::vector<TableRequirement>& requirements) {
  for (const TableRequirement& requirement : requirements) {
    RETURN_IF_ERROR(std::visit([&](const auto& wanted) { return Check(table, wanted); }, requirement));
  }
  return {};
}

Result<TableMetadata> ApplyUpdates(TableMetadata table, const std::vector<TableUpdate>& updates,
                                   int64_t now_ms) {
  for (const TableUpdate& update : updates) {
    RETURN_IF_ERROR(std::visit([&](const auto& change) { return Apply(change, &table); }, update));
  }
  table.last_updated_ms = std::max(table.last_updated_ms, now_ms);
  return table;
}

int64_t NextTimestamp(const TableMetadata& table, int64_t now_ms) {
  int64_t latest = table.last_updated_ms;
  for (const Snapshot& snapshot : table.snapshots) latest = std::max(latest, snapshot.timestamp_ms + 1);
  return std::max(now_ms, latest);
}

}  // namespace caudal::iceberg
