// ExpiryPlan: which snapshots and refs of a table are to go, and which stay whatever their age: heads of
// refs, what the policy keeps of each branch, and the newest token of every pipeline.
//
// A pure function; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

// What is not said here the ref says, then the table's properties (history.expire.*), then Iceberg's
// defaults: five days, one snapshot.
struct ExpiryPolicy {
  std::optional<int64_t> max_snapshot_age_ms;
  std::optional<int64_t> min_snapshots_to_keep;
};

struct ExpiryPlan {
  std::vector<int64_t> snapshots;
  std::vector<std::string> refs;  // branches and tags that are too old, tags of tokens that are told
  std::map<std::string, SnapshotRef> tags;  // to be set, so that tokens behind a gap are found
  bool empty() const { return snapshots.empty() && refs.empty(); }
};

ExpiryPlan PlanExpiry(const TableMetadata& table, const ExpiryPolicy& policy, int64_t now_ms);

}  // namespace caudal::iceberg
