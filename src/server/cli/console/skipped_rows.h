// What sources left out because a table option says so: told at the end of a statement, by class.
#pragma once

#include "api/plan.h"
#include "base/status.h"
#include "run/job_progress.h"
#include "server/cli/console/console.h"

namespace caudal {

// Says nothing if nothing was skipped. `progress`: the counts at the end of a job of `plan`.
//   skipped records of 'events': 2 malformed, 1 contract
//   {"skipped": {"source": "events", "records": {"malformed": 2, "contract": 1}}}
Status TellSkipped(const Plan& plan, const JobProgress& progress, Console* console);

}  // namespace caudal
