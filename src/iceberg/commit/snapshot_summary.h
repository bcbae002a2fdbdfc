// The summary of a snapshot: what it added and took away, and the totals since the head before it.
//
// A pure function; any thread.
#pragma once

#include <map>
#include <string>

#include "iceberg/commit/append.h"
#include "iceberg/commit/delete_changes.h"

namespace caudal::iceberg {

// Data files that a commit takes out whole.
struct RemovedData {
  int64_t files = 0, records = 0, bytes = 0;
};

// `parent` is the head of the branch; null if it has none. A total that the parent does not tell is left out,
// since it would be wrong.
std::map<std::string, std::string> CommitSummary(const Snapshot* parent, const PreparedAppend& append,
                                                 const DeleteChanges& deletes,
                                                 const RemovedData& removed = {});

}  // namespace caudal::iceberg
