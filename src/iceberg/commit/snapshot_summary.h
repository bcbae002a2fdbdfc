// The summary of a snapshot: what it added and took away, and the totals since the head before it.
//
// A pure function; any thread.
#pragma once

#include <map>
#include <string>

#include "iceberg/commit/append.h"
#include "iceberg/commit/delete_changes.h"

namespace caudal::iceberg {

// `parent` is the head of the branch; null if it has none. A total that the parent does not tell is left out,
// since it would be wrong.
std::map<std::string, std::string> CommitSummary(const Snapshot* parent, const PreparedAppend& append,
                                                 const DeleteChanges& deletes);

}  // namespace caudal::iceberg
