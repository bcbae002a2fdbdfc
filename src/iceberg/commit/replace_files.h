// ReplaceFiles: the commit that puts files in the place of others whose live rows they hold.
//
// The same loop as CommitAppend, without a token: nothing of it must be repeated, since whoever looks at the
// table later finds what is left to do. Each attempt asserts the head that it was made for. What others did
// since the rows were read is settled then:
//   rows that were deleted since      are deleted in their new place
//   a file that is gone               its group is left out: it lost
//   the branch was set back           the same: what was deleted when the rows were read may be live again
//   files and equality deletes added  stay as they are; new files have the sequence number of what was read,
//                                     so that a later equality delete still applies
// One thread; blocks.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "iceberg/catalog/catalog.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/commit/delete_changes.h"
#include "iceberg/commit/file_replacement.h"
#include "iceberg/commit/head_files.h"

namespace caudal::iceberg {

struct ReplaceOptions {
  std::string branch = "main";
  std::function<void(int64_t millis)> wait;  // between attempts; nothing: no pause
  int64_t attempts = 8;
  std::mutex* turn = nullptr;  // held during each attempt: whoever else commits in this process takes it too
};

struct ReplaceOutcome {
  int64_t snapshot_id = 0;  // 0: none was made, every group lost
  int64_t sequence_number = 0;
  int64_t parent_id = 0;
  int attempts = 0;
  std::vector<bool> committed;    // by group
  int64_t moved_deletes = 0;      // rows that were deleted since they were read
  DeleteChanges::Count outdated;  // deletes that went with the files that they were of
};

// User error if the catalog shows no history of the head: the files of an epoch are then all that tells that
// it was committed, and must not be taken out.
Status CheckHistory(const TableName& name, const Snapshot& head);

// `table_uuid`: of the table that was read. `known` remembers manifests from one call to the next. New files
// of groups that are certainly not committed are removed. External error (backoff) when the attempts are used
// up: nothing is lost, and what was asked may be done anew. User error if the table is gone or another one,
// and that of CheckHistory.
Result<ReplaceOutcome> ReplaceFiles(Catalog* catalog, const TableFiles& files, const TableName& name,
                                    const std::string& table_uuid, const std::vector<FileReplacement>& groups,
                                    HeadFiles* known, const ReplaceOptions& options);

}  // namespace caudal::iceberg
