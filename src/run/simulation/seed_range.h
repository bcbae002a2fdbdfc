// SimulateRange: many seeds, spread over processes of their own: a life that dies takes no other with it.
#pragma once

#include <cstdint>
#include <string>

#include "run/simulation/simulation.h"

namespace caudal {

inline constexpr char kWrongResult[] = "wrong result: ";

struct SimulationSummary {
  int64_t seeds = 0;
  int64_t failed = 0;
  int64_t wrong_results = 0;  // of the failed
  SimulationCounts total;
  SimulationCounts fewest;     // of any seed
  std::string first_failures;  // lines "seed N: why"; why begins with kWrongResult where it is one
};

struct SeedRange {
  uint64_t first = 1;
  int64_t count = 0;
  int processes = 1;
  int64_t enough = 5;  // failures after which a process stops, or as many wrong results
};

SimulationSummary SimulateRange(const SeedRange& range, int64_t enough_wrong_results);

// Why the lives of a summary are too tame to prove anything; empty if they are not.
std::string TooTame(const SimulationSummary& summary);

}  // namespace caudal
