// Append: the commit of data files to a branch, repeated until it is certain.
//
// Two halves, so that another process can repeat the second from what the first gave: PrepareAppend writes
// the manifests, once; CommitAppend adds them to the head of the branch. One thread; blocks, also to wait
// between attempts. The files of the table must outlive both.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "iceberg/catalog/catalog.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/commit/pipeline_token.h"
#include "iceberg/manifest/manifest.h"

namespace caudal::iceberg {

// Plain data: all that a commit needs, besides the table.
struct PreparedAppend {
  std::string table_uuid;
  std::string commit_uuid;  // in the names of its files
  int32_t schema_id = 0;
  std::vector<ManifestFile> manifests;  // durable, in no list yet
  int64_t files = 0;
  int64_t records = 0;
  int64_t bytes = 0;
  std::set<std::string> partitions;  // that differ, as folders
};

// Writes one manifest of `data`, files that are written and durable, of the spec `spec_id`. `name` becomes
// the commit_uuid, so that its files can be told from others; empty: a new uuid. User error if the spec
// cannot be written; Internal error for a file twice, or one that is no data file.
Result<PreparedAppend> PrepareAppend(const TableFiles& files, const TableMetadata& table, int32_t spec_id,
                                     const std::vector<DataFile>& data, const std::string& name = {});
// What several tasks prepared for the same table, as one commit.
PreparedAppend JoinAppends(const std::vector<PreparedAppend>& parts);

struct AppendOptions {
  std::string branch = "main";
  std::map<std::string, std::string> summary;  // more members of the snapshot's summary
  std::function<void(int64_t millis)> wait;    // between attempts; nothing: no pause
};

enum class AppendResult {
  kCommitted,   // by this call
  kFound,       // by an earlier one
  kSuperseded,  // a newer epoch of the pipeline is there: nothing was done, and never will be
};
struct AppendOutcome {
  AppendResult result = AppendResult::kCommitted;
  int64_t snapshot_id = 0;  // 0: none was made, or it has expired
  int attempts = 0;
  int64_t sequence_number = 0;  // of the snapshot
  int64_t parent_id = 0;        // the snapshot that it was made upon; 0: none
};

// Searches the branch for the token and, if it is absent, asserts the head that was searched: however late an
// earlier attempt arrives, at most one is taken. Files that the head has already are found too: the snapshot
// with their token may have expired. After an attempt whose outcome is unknown nothing is
// removed. External error (backoff) when the tries of the table's `commit.retry.num-retries` are used up:
// unknown or refused, the same call may be repeated. User error if the table is gone or another one.
Result<AppendOutcome> CommitAppend(Catalog* catalog, const TableFiles& files, const TableName& name,
                                   const PreparedAppend& append, const PipelineToken& token,
                                   const AppendOptions& options);

}  // namespace caudal::iceberg
