// RewriteGroup: the live rows of some data files of one partition, in their order, as new files.
//
// One thread; blocks, and asks between parts of the work whether and how fast to go on.
#pragma once

#include <functional>
#include <string>

#include "base/env.h"
#include "connect/iceberg/compact/rewrite_columns.h"
#include "fs/file_system.h"
#include "iceberg/commit/file_replacement.h"
#include "iceberg/maintenance/compaction_plan.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal {

struct RewriteSource {
  FileSystem* files = nullptr;
  Env* env = nullptr;
  const iceberg::TableMetadata* table = nullptr;
  const iceberg::Snapshot* snapshot = nullptr;  // that was planned
  const iceberg::ScanPlan* scan = nullptr;
  const RewriteColumns* columns = nullptr;
  std::string prefix;  // of the names of new files
  // After each part, with the bytes that it read, about. An error ends the work.
  std::function<Status(int64_t bytes)> pace = nullptr;
};

// New files are whole and durable; after an error there are none. `unreadable` is then the data file that
// could not be read, unless it may be at another time: what is wrong is wrong with it alone.
Result<iceberg::FileReplacement> RewriteGroup(const RewriteSource& source,
                                              const iceberg::CompactionGroup& group, std::string* unreadable);

}  // namespace caudal
