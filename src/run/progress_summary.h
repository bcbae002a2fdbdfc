// ProgressSummary: what the tasks of one plan node have told, added up. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "run/job_progress.h"
#include "run/task.h"
#include "state/manifest.h"

namespace caudal {

// `fingerprint` names the node, which is number `node` of the plan. Counts go on from `base`, the node in the
// manifest that the job was restored from; null if it was not there. Shares of time are of `elapsed_nanos`.
OperatorProgress SumOfTasks(size_t node, const NodeState& fingerprint, const NodeState* base,
                            const std::vector<TaskProgress>& tasks, int64_t elapsed_nanos);
// How far the splits of node number `node` are behind the last commit.
void SetDurable(const CheckpointProgress& checkpoints, size_t node, int64_t now_millis,
                OperatorProgress* progress);

}  // namespace caudal
