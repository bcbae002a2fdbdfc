// Engine: what a process needs to run plans: threads, memory budget, connectors; and how it runs them.
//
// One a process, made in the command that needs it; any thread. Jobs that it started must go before it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/catalog.h"
#include "run/job.h"
#include "run/schedule/pool_executor.h"
#include "server/result_connector.h"

namespace caudal {

class Engine {
 public:
  struct Options {
    int threads = 0;           // 0 = one a core
    int64_t memory_limit = 0;  // bytes of the whole process; 0 = only each query's own limit
    std::string scratch_dir;   // where ephemeral queries keep an epoch's rows; empty = the system's
  };
  explicit Engine(Options options);
  ~Engine();  // removes the scratch folder
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // For a query that is one of `pipeline`'s; `state_root` empty = nothing is remembered.
  JobOptions MakeJobOptions(const std::string& pipeline, const std::string& state_root);

  // Runs a bare SELECT to its end; `consumer` gets its rows, hidden columns last. `*started`: an error came
  // from running it, not from its tables and options.
  Status Select(Plan plan, RowsConsumer consumer, bool* started);
  // Runs an INSERT to its end without a checkpoint; how many rows each sink took.
  Result<JobProgress> Insert(Plan plan, bool* started);

 private:
  Options options_;
  MemoryBudget budget_;
  PoolExecutor executor_;
};

// What the session's settings say to expressions outside a plan.
EvaluatorOptions EvaluatorOptionsOf(const Options& settings);

}  // namespace caudal
