// Prometheus text of what jobs show of themselves (exposition format 0.0.4).
#pragma once

#include <string>
#include <vector>

#include "run/job_progress.h"

namespace caudal {

// Pure function over copies; any thread. `now_millis` is the wall clock.
std::string MetricsText(const std::vector<JobProgress>& jobs, int64_t now_millis);

}  // namespace caudal
