// ExpireSnapshots: takes old snapshots out of a table's metadata, and then removes the files that nothing
// reaches any more.
//
// One thread; blocks. What is to go and what stays is read first, so that what cannot be read is known while
// nothing has gone. Then metadata: a file goes only after a commit without the snapshots that had it was
// seen, and only if none of the snapshots that are left has it. After an outcome that is not certain no file
// goes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "iceberg/catalog/catalog.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/maintenance/expiry_plan.h"

namespace caudal::iceberg {

struct ExpireOptions {
  ExpiryPolicy policy;
  bool dry = false;                          // only say what would go
  std::function<void(int64_t millis)> wait;  // between attempts; nothing: no pause
};

struct ExpireReport {
  ExpiryPlan plan;
  std::vector<std::string> files;  // locations that went, or would
  std::vector<std::string> stuck;  // that could not be removed: orphans now
  // Lists and manifests of what went that are missing or damaged: what they alone named is an orphan now.
  std::vector<std::string> unread;
};

// User error if the table forbids it ('gc.enabled' = 'false'). That of the file if one of a snapshot that
// stays cannot be read; those of what expires only stand in the report. External error (backoff) if others
// were quicker again and again, or the outcome is not certain: the same call may be repeated.
Result<ExpireReport> ExpireSnapshots(Catalog* catalog, const TableFiles& files, const TableName& name,
                                     const ExpireOptions& options);

}  // namespace caudal::iceberg
