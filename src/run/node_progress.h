// NodeProgress: what a node is doing, as others may read it. Plain data, a copy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/source.h"
#include "base/status.h"
#include "data/message.h"
#include "run/scan/split_progress.h"
#include "state/manifest.h"

namespace caudal {

struct NodeProgress {
  int node = 0;
  std::vector<int64_t> rows_in;
  int64_t rows_out = 0;
  std::vector<CountedFate> fates;
  Watermark watermark;
  int64_t busy_nanos = 0;
  int64_t cpu_nanos = 0;
  int64_t longest_step_nanos = 0;      // wall clock, what else ran on the core included
  int64_t longest_step_cpu_nanos = 0;  // of the thread alone
  int64_t state_rows = 0;
  int64_t state_bytes = 0;
  int64_t bytes_read = 0;             // sources
  int64_t ignored_values = 0;         // sources
  Backlog backlog;                    // sources
  std::vector<std::string> warnings;  // sources
  std::vector<SplitProgress> splits;  // sources, of those not finished
  Status trouble;                     // operators: what they wait out; OK = nothing
};

}  // namespace caudal
