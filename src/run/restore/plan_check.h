// PlanCheck: whether a plan may go on from what a checkpoint folder holds, before anything is claimed: a plan
// that does not fit must not disturb the process that runs the query.
//
// Blocks (it reads the newest whole manifest). Any thread.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "fs/file_system.h"
#include "state/manifest.h"

namespace caudal {

// OK where there is no checkpoint, too. User error when state would be lost that `allow_dropped` does not
// name, when state means something else, or when the last epoch of a sink that goes may not have reached its
// target. `fingerprints` are the plan's; what the user should know of a plan that fits is added to
// `warnings`.
Status CheckPlan(FileSystem* files, const std::string& folder, const std::vector<NodeState>& fingerprints,
                 const std::vector<std::string>& allow_dropped, std::vector<std::string>* warnings);

}  // namespace caudal
