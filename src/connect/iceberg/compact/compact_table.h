// CompactTable: small data files of a table, and those with many deleted rows, as few and whole ones.
//
// Blocks for as long as it takes; several threads of its own rewrite, the caller's commits. It may run beside
// any writer: what others do meanwhile is kept (iceberg/commit/replace_files.h), and a group that lost its
// race is planned anew.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "iceberg/catalog/catalog.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/commit/head_files.h"
#include "iceberg/commit/replace_files.h"
#include "iceberg/maintenance/compaction_plan.h"

namespace caudal {

struct CompactionReport {
  int64_t groups = 0;
  int64_t files_in = 0, bytes_in = 0, rows_in = 0;  // of groups that were rewritten, or would be
  int64_t files_out = 0, bytes_out = 0, rows_out = 0;
  int64_t deletes_gone = 0;   // deletion vectors and files of deletes that are needed no more
  int64_t moved_deletes = 0;  // rows that somebody deleted meanwhile, deleted in their new place
  int64_t lost = 0;           // groups that had to be planned anew, since somebody else took their files away
  std::vector<int64_t> snapshots;
  std::vector<std::pair<std::string, int64_t>> left_out;  // files that cannot be rewritten: why, how many
  std::map<std::string, Status> unreadable;  // data files whose groups stay as they are, and what is wrong
};

struct CompactTableOptions {
  iceberg::CompactionOptions what;
  bool dry = false;                 // only say what would be done
  int threads = 1;                  // groups that are rewritten at once
  int64_t max_commits = 10;         // of one run: groups are committed as they are done, so many at a time
  int64_t max_groups = INT64_MAX;   // of one run: the largest gain first
  std::string prefix = "compact-";  // of the names of new files
  iceberg::ReplaceOptions commit;
  std::function<Status(int64_t bytes)> pace = nullptr;  // any thread; as RewriteSource has it
  std::function<void(const CompactionReport& so_far, int64_t groups)> progress = nullptr;  // after each group
};

// User error if the table has columns that cannot be rewritten; External (backoff) if others were quicker
// again and again. What was committed before an error stays, and is told in `report`. `known` as in
// ReplaceFiles.
Status CompactTable(iceberg::Catalog* catalog, const iceberg::TableFiles& files,
                    const iceberg::TableName& name, iceberg::HeadFiles* known,
                    const CompactTableOptions& options, CompactionReport* report);

}  // namespace caudal
