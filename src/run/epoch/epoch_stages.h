// EpochFlight, EpochLanding: what the coordinator knows of an epoch that is under way: first between its
// barrier and its manifest, then between manifest and commit.
//
// Plain data, owned and touched by the coordinator alone; while `running` a job has the landing's `commit`.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "run/epoch/accounting.h"
#include "run/epoch/sink_epochs.h"

namespace caudal {

// (ms of the wall clock, rows that arrived then)
using Arrivals = std::vector<std::pair<int64_t, int64_t>>;

struct EpochFlight {
  Barrier barrier;
  std::unique_ptr<EpochTotals> totals;
  std::vector<NodeState> nodes;
  int acks_missing = 0;
  bool writing_state = false;
  bool manifest_submitted = false;
  Status failure;
  int64_t began_nanos = 0;
  Arrivals arrivals;
};

struct EpochLanding {
  PendingCommit commit;
  std::vector<NodeState> nodes;
  Arrivals arrivals;
  int64_t retry_at = 0;
  int64_t backoff_nanos = 0;
  bool running = false;
  bool last = false;
  int64_t began_nanos = 0;
};

}  // namespace caudal
