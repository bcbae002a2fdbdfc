// Replay: the query of a rebuild, run into its branch until its source rests.
//
// Runs in the caller's process and thread; a signal ends it after a last epoch.
#pragma once

#include "server/cli/console/console.h"
#include "server/cli/rebuild/rebuild_plan.h"

namespace caudal {

struct ReplayReport {
  int64_t rows_read = 0;  // since the rebuild began
  bool stopped = false;   // by a signal, before the source rested
};

// REQUIRES: the lock of plan.made_root is held.
Result<ReplayReport> Replay(const Program& program, const RebuildPlan& plan, int64_t until_idle_millis,
                            Console& console);

}  // namespace caudal
