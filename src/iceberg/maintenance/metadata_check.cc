#include "iceberg/maintenance/metadata_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "iceberg/manifest/manifest_schema.h"

namespace caudal::iceberg {
namespace {

// What Java's library lets clocks of several writers differ by.
constexpr int64_t kClockSkewMillis = 60'000;

std::string PlaceOf(const Snapshot& snapshot) { return fmt::format("snapshot {}", snapshot.snapshot_id); }

void CheckSchemas(const TableMetadata& table, Violations* found) {
  for (const Schema& schema : table.schemas) {
    const std::string place = fmt::format("schema {}", schema.schema_id);
    if (schema.HighestId() > table.last_column_id) {
      found->Add(place, fmt::format("it has the field id {}, and last-column-id is {}", schema.HighestId(),
                                    table.last_column_id));
    }
    for (const int32_t id : schema.identifier_field_ids) {
      if (schema.FindField(id) == nullptr)
        found->Add(place, fmt::format("the identifier field {} is none of its fields", id));
    }
  }
}

void CheckSpecs(const TableMetadata& table, Violations* found) {
  for (const PartitionSpec& spec : table.partition_specs) {
    const std::string place = fmt::format("partition spec {}", spec.spec_id);
    std::set<int32_t> ids;
    for (const PartitionField& field : spec.fields) {
      if (!ids.insert(field.field_id).second)
        found->Add(place, fmt::format("it has the field id {} twice", field.field_id));
      if (field.field_id > table.last_partition_id) {
        found->Add(place, fmt::format("it has the field id {}, and last-partition-id is {}", field.field_id,
                                      table.last_partition_id));
      }
    }
    const bool is_void = std::all_of(spec.fields.begin(), spec.fields.end(),
                                     [](const PartitionField& field) { return field.transform == "void"; });
    if (spec.spec_id != table.default_spec_id || is_void) continue;
    const auto types = PartitionTypes(*table.FindSchema(table.current_schema_id), spec);
    if (!types.ok()) found->Add(place, types.status().message());
  }
}

void CheckNumbers(const TableMetadata& table, Violations* found) {
  std::map<int64_t, int64_t> taken;
  for (const Snapshot& snapshot : table.snapshots) {
    const int64_t number = snapshot.sequence_number;
    if (number > table.last_sequence_number) {
      found->Add(PlaceOf(snapshot),
                 fmt::format("it has the sequence number {}, and last-sequence-number is {}", number,
                             table.last_sequence_number));
    }
    // Before format 2 nothing was numbered.
    if (number == 0) continue;
    const auto [other, is_new] = taken.emplace(number, snapshot.snapshot_id);
    if (!is_new) {
      found->Add(PlaceOf(snapshot),
                 fmt::format("it has the sequence number {}, as snapshot {} has", number, other->second));
    }
  }
}

void CheckLineage(const TableMetadata& table, Violations* found) {
  for (const Snapshot& snapshot : table.snapshots) {
    if (snapshot.schema_id && table.FindSchema(*snapshot.schema_id) == nullptr)
      found->Add(PlaceOf(snapshot), fmt::format("there is no schema {}", *snapshot.schema_id));
    if (snapshot.timestamp_ms > table.last_updated_ms + kClockSkewMillis) {
      found->Add(PlaceOf(snapshot), fmt::format("it is of {}, and last-updated-ms is {}",
                                                snapshot.timestamp_ms, table.last_updated_ms));
    }
    if (!snapshot.parent_snapshot_id) continue;
    const Snapshot* parent = table.FindSnapshot(*snapshot.parent_snapshot_id);
    if (parent == nullptr || snapshot.sequence_number == 0) continue;  // it has expired
    if (parent->sequence_number >= snapshot.sequence_number) {
      found->Add(PlaceOf(snapshot),
                 fmt::format("it has the sequence number {}, and its parent {} has {}",
                             snapshot.sequence_number, parent->snapshot_id, parent->sequence_number));
    }
  }
}

void CheckRowIds(const TableMetadata& table, Violations* found) {
  if (table.format_version < 3) return;
  std::map<int64_t, const Snapshot*> by_number;
  for (const Snapshot& snapshot : table.snapshots) by_number[snapshot.sequence_number] = &snapshot;
  int64_t next = 0;
  for (const auto& [number, snapshot] : by_number) {
    if (!snapshot->first_row_id) continue;  // made before the table was of format 3
    const int64_t first = *snapshot->first_row_id, after = first + snapshot->added_rows.value_or(0);
    if (!snapshot->added_rows) found->Add(PlaceOf(*snapshot), "it has first-row-id and no added-rows");
    if (first < next)
      found->Add(PlaceOf(*snapshot), fmt::format("its row ids begin at {}, and {} are taken", first, next));
    if (after > table.next_row_id) {
      found->Add(PlaceOf(*snapshot),
                 fmt::format("its row ids end at {}, and next-row-id is {}", after, table.next_row_id));
    }
    next = std::max(next, after);
  }
}

void CheckRefs(const TableMetadata& table, Violations* found) {
  for (const auto& [name, ref] : table.refs) {
    const std::string place = fmt::format("ref '{}'", name);
    if (ref.type != "branch" && ref.type != "tag")
      found->Add(place, fmt::format("it is of type '{}'", ref.type));
    if (table.FindSnapshot(ref.snapshot_id) == nullptr)
      found->Add(place, fmt::format("it is at snapshot {}, which is not there", ref.snapshot_id));
  }
}

void CheckLogs(const TableMetadata& table, Violations* found) {
  int64_t latest = 0;
  for (const SnapshotLogEntry& entry : table.snapshot_log) {
    if (entry.timestamp_ms + kClockSkewMillis < latest) {
      found->Add("snapshot-log", fmt::format("snapshot {} became current at {}, and the one before it at {}",
                                             entry.snapshot_id, entry.timestamp_ms, latest));
    }
    latest = entry.timestamp_ms;
  }
  if (table.snapshot_log.empty()) return;
  const int64_t last = table.snapshot_log.back().snapshot_id;
  if (table.current_snapshot_id != last) {
    found->Add("snapshot-log",
               fmt::format("its last entry is snapshot {}, and the current one is {}", last,
                           table.current_snapshot_id ? std::to_string(*table.current_snapshot_id) : "none"));
  }
  if (latest > table.last_updated_ms + kClockSkewMillis) {
    found->Add("snapshot-log", fmt::format("its last entry is of {}, and last-updated-ms is {}", latest,
                                           table.last_updated_ms));
  }
}

}  // namespace

void CheckMetadata(const TableMetadata& table, Violations* found) {
  for (const auto check :
       {CheckSchemas, CheckSpecs, CheckNumbers, CheckLineage, CheckRowIds, CheckRefs, CheckLogs}) {
    if (!found->enough()) check(table, found);
  }
}

}  // namespace caudal::iceberg
