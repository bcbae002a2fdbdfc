// PlanScan: which files hold the rows of a snapshot, and which deletes apply to each.
//
// A pure function over the table's files; any thread; blocks to read manifests.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/manifest/manifest.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

struct LiveFile {
  DataFile file;
  int32_t spec_id = 0;
  int64_t sequence_number = 0;  // of its data
};

struct ScanFile {
  LiveFile data;
  std::vector<size_t> deletes;  // in ScanPlan::deletes; a deletion vector stands alone among position deletes
};

struct ScanPlan {
  std::vector<ScanFile> files;
  std::vector<LiveFile> deletes;  // every live one, whether or not it applies to a file
};

// Data error if the snapshot breaks the format: a data file twice, two deletion vectors of one file, a
// damaged manifest. User error for a snapshot of format 1 that lists its manifests in the metadata.
Result<ScanPlan> PlanScan(const TableFiles& files, const TableMetadata& table, const Snapshot& snapshot);

}  // namespace caudal::iceberg
