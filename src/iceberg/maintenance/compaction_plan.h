// PlanCompaction: which data files of a snapshot are worth writing anew, and which of them together.
//
// A pure function; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "iceberg/metadata/table_metadata.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal::iceberg {

// Named as Spark's rewrite_data_files names them. What is not said follows from the target, which follows
// from the table ('write.target-file-size-bytes', or 512 MB).
struct CompactionOptions {
  std::optional<int64_t> target_file_size_bytes;
  std::optional<int64_t> min_file_size_bytes;  // smaller: too small; default: 75 % of the target
  std::optional<int64_t> max_file_size_bytes;  // larger: too large; default: 180 % of the target
  int64_t min_input_files = 5;                 // small files of a partition that are worth it
  int64_t delete_file_threshold = 10;          // files of deletes that apply to one
  double delete_ratio_threshold = 0.3;         // of its rows that are known to be deleted
  bool rewrite_all = false;
  // Leaves out a small file that is larger than all smaller ones of its partition together. Who looks again
  // and again so writes each row a few times, and not once a look.
  bool by_size = false;
};

struct CompactionGroup {
  std::vector<size_t> files;  // in the scan plan; the oldest first
  int64_t bytes = 0;          // of them
  int64_t file_bytes = 0;     // a new file is ended at this size
};

struct CompactionPlan {
  std::vector<CompactionGroup> groups;
  // Files that would be in a group, and cannot be written anew: why, and how many.
  std::vector<std::pair<std::string, int64_t>> left_out;
};

// Rows that a deletion vector or file of position deletes of this file alone takes away, known without
// reading; 0 if none is.
int64_t KnownDeletes(const ScanPlan& scan, const ScanFile& file);

// User error for sizes that contradict each other.
Result<CompactionPlan> PlanCompaction(const TableMetadata& table, const ScanPlan& scan,
                                      const CompactionOptions& options);

}  // namespace caudal::iceberg
