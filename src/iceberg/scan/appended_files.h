// What snapshots added to a table, one after the other: for those who read a table as it grows.
//
// Pure functions over metadata and the table's files; any thread; AppendedFiles blocks to read manifests.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/metadata/table_metadata.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal::iceberg {

// The snapshots between `after` (nothing: before the first one) and `head`, which are its ancestors or
// itself, oldest first. User error if `after` is none of its ancestors that are still there: it has expired,
// or the branch was set back.
Result<std::vector<const Snapshot*>> SnapshotsAfter(const TableMetadata& table, std::optional<int64_t> after,
                                                    int64_t head);

// The data files that the snapshot added, in the order of its manifests; those that it only took over are
// none.
Result<ScanPlan> AppendedFiles(const TableFiles& files, const Snapshot& snapshot);

}  // namespace caudal::iceberg
