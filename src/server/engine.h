// Engine: what a process needs to run plans: threads, memory budget, connectors; and how it runs them.
//
// One a process, made in the command that needs it; any thread. Jobs that it started must go before it.
#pragma once

#include <functional>
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

  MemoryBudget* budget() { return &budget_; }  // of the process
  // For a query that is one of `pipeline`'s; `state_root` empty = nothing is remembered.
  JobOptions MakeJobOptions(const std::string& pipeline, const std::string& state_root);

  // How a SELECT may end before its input does, and who is told that time passes.
  struct SelectOptions {
    int64_t deadline_millis = 0;                    // 0 = none
    std::function<bool()> should_stop;              // asked a few times a second
    std::function<void()> on_second;                // called about once a second
    std::function<void(const Status&)> on_trouble;  // as of InsertOptions, about once a second
  };
  // Runs a bare SELECT; `consumer` gets its rows, hidden columns last. A LIMIT without ORDER BY ends the
  // read. A streaming SELECT that is stopped, or reaches its deadline, has ended well; a batch one has no
  // result. `*started`: an error came from running it, not from its tables and options. The counts at the
  // end.
  Result<JobProgress> Select(Plan plan, RowsConsumer consumer, const SelectOptions& ends, bool* started);
  // Who is asked and told while an INSERT runs, a few times a second.
  struct InsertOptions {
    std::function<bool()> should_stop;
    std::function<void(const Status&)> on_trouble;  // what it waits out; OK = nothing, or nothing any more
  };
  // Runs an INSERT to its end without a checkpoint; how many rows each sink took.
  Result<JobProgress> Insert(Plan plan, const InsertOptions& watch, bool* started);

 private:
  Options options_;
  MemoryBudget budget_;
  PoolExecutor executor_;
};

// What the session's settings say to expressions outside a plan.
EvaluatorOptions EvaluatorOptionsOf(const Options& settings);

}  // namespace caudal
