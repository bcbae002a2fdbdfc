// Simulation: one seeded life of a query: the real run/ and state/ code on one thread, killed again and again
// at any step or fault point, rescaled between starts, beside zombies of its former self; at the end its
// sinks and counters must equal what was computed independently.
#pragma once

#include <cstdint>
#include <string>

namespace caudal {

struct SimulationResult {
  bool ok = false;
  std::string what;  // why not
  int starts = 0;
  int crashes = 0;
  int64_t steps = 0;
};

// Not thread-safe: fault points are the process's.
SimulationResult Simulate(uint64_t seed);

struct SimulationSummary {
  int64_t seeds = 0;
  int64_t failed = 0;
  int64_t starts = 0;
  int64_t crashes = 0;
  int64_t fewest_crashes = INT64_MAX;
  int64_t steps = 0;
  std::string first_failures;  // lines "seed N: why"
};

// Seeds [first, first + count) spread over `processes`; stops early after `enough` failures.
SimulationSummary SimulateMany(uint64_t first, int64_t count, int processes, int64_t enough = 5);

}  // namespace caudal
