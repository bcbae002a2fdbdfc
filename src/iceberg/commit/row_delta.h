// RowDelta: a commit that adds data files and takes rows of others away, by their positions.
//
// CommitRowDelta is CommitAppend with one question more: which rows go is asked at each attempt, for the very
// head that the attempt asserts. So an attempt that is refused since the head moved finds its rows again
// wherever they are now. One thread; blocks.
#pragma once

#include "iceberg/commit/append.h"
#include "iceberg/commit/delete_changes.h"

namespace caudal::iceberg {

class RowDeletes {
 public:
  virtual ~RowDeletes() = default;
  // The rows to take away if the commit is made upon `head` (null: the branch has none), which may lie in the
  // commit's own data files too. External error (backoff): try again later.
  virtual Result<DeletedRows> Find(const TableMetadata& table, const Snapshot* head) = 0;
  // `head` does not have the rows that Find gave for it. True: what was asked has been made anew of the
  // table, so that Find may give others.
  virtual Result<bool> Reconsider(const TableMetadata&, const Snapshot* /*head*/) { return false; }
};

// As CommitAppend. Without files to add and rows to take away nothing is committed: kCommitted, snapshot 0.
// `known` remembers what was read, from one commit to the next. All outlive the call.
Result<AppendOutcome> CommitRowDelta(Catalog* catalog, const TableFiles& files, const TableName& name,
                                     const PreparedAppend& append, RowDeletes* deletes, HeadFiles* known,
                                     const PipelineToken& token, const AppendOptions& options);

}  // namespace caudal::iceberg
