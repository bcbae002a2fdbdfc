// CheckTable: whether a table keeps everything that its format promises: metadata, lineage of snapshots,
// manifests, the files they name, deletes, statistics.
//
// Changes nothing; one thread; blocks for as long as it takes to look at every file once.
#pragma once

#include <vector>

#include "base/status.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/maintenance/violations.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

struct TableCheckOptions {
  bool all = false;   // go on after the first violation
  bool files = true;  // look at data files and files of deletes too, not at metadata alone
};

struct TableCheckReport {
  std::vector<Violation> violations;
  int64_t snapshots = 0;
  int64_t manifests = 0;
  int64_t files = 0;  // of data, deletes and statistics
  int64_t bytes = 0;  // of those files
};

// External error if a disk or service does not answer: what is wrong with the table itself is a violation. A
// snapshot that expires meanwhile shows as files that are not there: load the table again then.
Result<TableCheckReport> CheckTable(const TableFiles& files, const TableMetadata& table,
                                    const TableCheckOptions& options);

}  // namespace caudal::iceberg
