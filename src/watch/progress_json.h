// ProgressJson: a query's last batch under the names that Spark's StreamingQueryProgress uses, so that what
// reads `lastProgress` today reads ops.streaming_progress.progress_json too.
//
// Pure functions over a copy of JobProgress; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "run/job_progress.h"

namespace caudal {

struct Batch {
  int64_t id = 0;
  int64_t observed_millis = 0;
  int64_t rows = 0;
  double input_rps = 0;
  double processed_rps = 0;
  int64_t millis = -1;  // -1: no batch ended
};

std::string ProgressJson(const JobProgress& progress, const Batch& batch);

// {"<scan>": {"<split>": position}} as of the last manifest; empty before the first.
std::string SourceOffsets(const JobProgress& progress);

}  // namespace caudal
