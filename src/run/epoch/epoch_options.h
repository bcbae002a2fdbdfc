// EpochOptions: how often a query commits and how much it keeps. Plain data.
#pragma once

#include <cstdint>

namespace caudal {

struct DeadRowLimit {
  double ratio = 1;     // of the rows read; 1 = any
  int64_t rows = 1000;  // fewer are not judged
};

struct EpochOptions {
  int64_t interval_millis = 30'000;
  int64_t min_pause_millis = 0;
  bool by_the_clock = false;  // epochs begin at multiples of the interval, as early results do
  int keep = 3;               // manifests
  DeadRowLimit dead_rows;
  bool ephemeral = false;  // no checkpoint: one epoch, at the end
};

}  // namespace caudal
