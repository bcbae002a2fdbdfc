// Simulation: one seeded life of a query: the real run/ and state/ code on one thread, killed again and again
// at any step or fault point, rescaled between starts, beside zombies of its former self; at the end its
// sinks and counters must equal what was computed independently.
#pragma once

#include <cstdint>
#include <string>

namespace caudal {

struct SimulationCounts {
  int64_t rows = 0;
  int64_t tasks = 0;  // the most of any start
  int64_t starts = 0;
  int64_t crashes = 0;
  int64_t restores = 0;        // starts from a checkpoint
  int64_t state_restores = 0;  // of these, with rows in an operator's state
  int64_t epochs = 0;          // committed
  int64_t steps = 0;

  static constexpr int64_t SimulationCounts::*kAll[] = {
      &SimulationCounts::rows,    &SimulationCounts::tasks,    &SimulationCounts::starts,
      &SimulationCounts::crashes, &SimulationCounts::restores, &SimulationCounts::state_restores,
      &SimulationCounts::epochs,  &SimulationCounts::steps};
};

struct SimulationResult {
  bool ok = false;
  bool wrong_result = false;  // not ok because of an output or a counter
  std::string what;           // why not
  SimulationCounts counts;
};

// Not thread-safe: fault points are the process's.
SimulationResult Simulate(uint64_t seed);

}  // namespace caudal
