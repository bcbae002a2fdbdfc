// TableMetadata: everything that one metadata file says about a table, as plain data.
//
// A value: whoever holds it may change it; no thread rule. Written tables are of format 2 or 3; format 1 is
// read. Members that are not known are kept and written again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "iceberg/metadata/schema.h"
#include "iceberg/metadata/snapshot_list.h"

namespace caudal::iceberg {

inline constexpr int kOldestWritten = 2;
inline constexpr int kNewestFormat = 3;
inline constexpr int32_t kFirstPartitionFieldId = 1000;

struct PartitionField {
  std::vector<int32_t> source_ids;  // one, but for transforms of several columns (v3)
  int32_t field_id = 0;
  std::string name;
  std::string transform;  // as written; Transform::Parse takes it apart
  UnknownFields unknown;
  bool operator==(const PartitionField&) const = default;
};

struct PartitionSpec {
  int32_t spec_id = 0;
  std::vector<PartitionField> fields;
  UnknownFields unknown;
  bool operator==(const PartitionSpec&) const = default;
};

struct SortField {
  std::vector<int32_t> source_ids;
  std::string transform;
  std::string direction;   // "asc", "desc"
  std::string null_order;  // "nulls-first", "nulls-last"
  UnknownFields unknown;
  bool operator==(const SortField&) const = default;
};

struct SortOrder {
  int32_t order_id = 0;  // 0 is unsorted, and always there
  std::vector<SortField> fields;
  UnknownFields unknown;
  bool operator==(const SortOrder&) const = default;
};

struct SnapshotRef {
  int64_t snapshot_id = 0;
  std::string type;  // "branch", "tag"
  std::optional<int64_t> min_snapshots_to_keep;
  std::optional<int64_t> max_snapshot_age_ms;
  std::optional<int64_t> max_ref_age_ms;
  UnknownFields unknown;
  bool operator==(const SnapshotRef&) const = default;
};

struct SnapshotLogEntry {
  int64_t timestamp_ms = 0;
  int64_t snapshot_id = 0;
  bool operator==(const SnapshotLogEntry&) const = default;
};

struct MetadataLogEntry {
  int64_t timestamp_ms = 0;
  std::string metadata_file;
  bool operator==(const MetadataLogEntry&) const = default;
};

struct TableMetadata {
  int32_t format_version = kOldestWritten;
  std::string table_uuid;
  std::string location;
  int64_t last_sequence_number = 0;
  int64_t last_updated_ms = 0;
  int32_t last_column_id = 0;
  std::vector<Schema> schemas;
  int32_t current_schema_id = 0;
  std::vector<PartitionSpec> partition_specs;
  int32_t default_spec_id = 0;
  int32_t last_partition_id = kFirstPartitionFieldId - 1;
  std::vector<SortOrder> sort_orders;
  int32_t default_sort_order_id = 0;
  std::map<std::string, std::string> properties;
  std::optional<int64_t> current_snapshot_id;
  SnapshotList snapshots;
  std::map<std::string, SnapshotRef> refs;  // "main" is the current snapshot, if there is one
  std::vector<SnapshotLogEntry> snapshot_log;
  std::vector<MetadataLogEntry> metadata_log;
  int64_t next_row_id = 0;  // v3
  UnknownFields unknown;    // statistics, partition-statistics and encryption-keys among them

  bool operator==(const TableMetadata&) const = default;

  // Null if there is none; they live as long as the lists they are in.
  const Schema* FindSchema(int32_t id) const;
  const PartitionSpec* FindSpec(int32_t id) const;
  const Snapshot* FindSnapshot(int64_t id) const;
  const SnapshotRef* FindRef(const std::string& name) const;
};

// The metadata file's JSON, unpacked. Data error that names the member; refused by name are formats that are
// newer, a current schema, spec, sort order or snapshot that is not listed, and names or ids that occur
// twice.
Result<TableMetadata> ParseTableMetadata(std::string_view json);
// User error for format 1, which is not written.
Result<std::string> TableMetadataText(const TableMetadata& metadata);

}  // namespace caudal::iceberg
