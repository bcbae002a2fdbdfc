// What manifests and manifest lists say, as plain data: which files a snapshot has, and what is known of
// each.
//
// Values; no thread rule.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/value.h"

namespace caudal::iceberg {

enum class FileContent : uint8_t { kData = 0, kPositionDeletes = 1, kEqualityDeletes = 2 };
enum class ManifestContent : uint8_t { kData = 0, kDeletes = 1 };
enum class EntryStatus : uint8_t { kExisting = 0, kAdded = 1, kDeleted = 2 };

// A data file, a file of deletes, or (position deletes in a Puffin file) one deletion vector.
struct DataFile {
  FileContent content = FileContent::kData;
  std::string file_path;
  std::string file_format = "PARQUET";
  std::vector<Value> partition;  // one a field of the spec, in its order
  int64_t record_count = 0;      // of a deletion vector: positions
  int64_t file_size_in_bytes = 0;
  std::map<int32_t, int64_t> column_sizes;  // by field id, as the next five
  std::map<int32_t, int64_t> value_counts;
  std::map<int32_t, int64_t> null_value_counts;
  std::map<int32_t, int64_t> nan_value_counts;
  std::map<int32_t, std::string> lower_bounds;  // single_value.h
  std::map<int32_t, std::string> upper_bounds;
  std::optional<std::string> key_metadata;
  std::vector<int64_t> split_offsets;
  std::vector<int32_t> equality_ids;
  std::optional<int32_t> sort_order_id;
  std::optional<int64_t> first_row_id;              // v3, data files
  std::optional<std::string> referenced_data_file;  // of a deletion vector, always
  std::optional<int64_t> content_offset;            // v3: where the deletion vector is in its file
  std::optional<int64_t> content_size_in_bytes;
  bool operator==(const DataFile&) const = default;

  bool is_deletion_vector() const {
    return content == FileContent::kPositionDeletes && content_offset.has_value();
  }
};

// A file and what became of it. An ADDED entry leaves its numbers open: they are those of the snapshot that
// the manifest is committed with, whichever attempt that is.
struct ManifestEntry {
  EntryStatus status = EntryStatus::kAdded;
  std::optional<int64_t> snapshot_id;           // that added or deleted it
  std::optional<int64_t> sequence_number;       // of its data: deletes apply by it
  std::optional<int64_t> file_sequence_number;  // of the snapshot that added the file
  DataFile file;
  bool operator==(const ManifestEntry&) const = default;
};

// What all values of one partition field have in common.
struct FieldSummary {
  bool contains_null = false;
  std::optional<bool> contains_nan;
  std::optional<std::string> lower_bound;
  std::optional<std::string> upper_bound;
  bool operator==(const FieldSummary&) const = default;
};

// One line of a manifest list.
struct ManifestFile {
  std::string manifest_path;
  int64_t manifest_length = 0;
  int32_t partition_spec_id = 0;
  ManifestContent content = ManifestContent::kData;
  // Open in a manifest that is not yet committed: the list gives it the snapshot's.
  std::optional<int64_t> sequence_number;
  std::optional<int64_t> min_sequence_number;  // over live entries; open if those of all are open
  std::optional<int64_t> added_snapshot_id;
  int32_t added_files_count = 0;
  int32_t existing_files_count = 0;
  int32_t deleted_files_count = 0;
  int64_t added_rows_count = 0;
  int64_t existing_rows_count = 0;
  int64_t deleted_rows_count = 0;
  std::vector<FieldSummary> partitions;
  std::optional<std::string> key_metadata;
  std::optional<int64_t> first_row_id;  // v3, data manifests
  bool operator==(const ManifestFile&) const = default;

  bool has_live_files() const { return added_files_count > 0 || existing_files_count > 0; }
};

}  // namespace caudal::iceberg
