// JobOptions: what a job is given beside its plan; and JobSettings: what the plan's SET statements say about
// running.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "api/connector.h"
#include "run/coordinator.h"
#include "run/task_graph.h"

namespace caudal {

// All pointers outlive the job.
struct JobOptions {
  Env* env = nullptr;
  FileSystem* files = nullptr;
  Executor* executor = nullptr;
  MemoryBudget* budget = nullptr;  // the process's; null: the query's own limit alone counts
  std::span<const Connector* const> connectors;
  OperatorFactory make_operator;  // default: op/'s MakeOperator
  std::string pipeline = "default";
  std::string pipeline_version = {};  // of its file; empty: there is none
  std::string state_root;             // checkpoints are in <state_root>/<pipeline>/<query>; empty: ephemeral
  std::string scratch_dir;            // ephemeral: where sinks may keep an epoch's rows
  std::vector<std::string> allow_dropped;
  // A drained query is refused, once its last commit is sure to be visible. Otherwise it ends at once, as is
  // right when the process that drained it died before it could say so.
  bool refuse_drained = false;
  bool bounded_only = false;  // refuse a source that never ends, in streaming mode too
  SnapshotBytes snapshot_bytes = {};
  int steps = 64;  // messages that a task handles in one turn; 1 with the seeded executor
};

struct JobSettings {
  EpochOptions epochs;
  EvaluatorOptions evaluator;
  bool mini_batch = false;
  int64_t heartbeat_millis = 200;
  int64_t idle_timeout_millis = 0;
  int64_t max_rows_per_epoch = 0;
  int64_t memory_limit = int64_t{2} << 30;
  int64_t lane_bytes = 16 << 20;

  // User error that names the setting whose value is wrong.
  static Result<JobSettings> From(const Plan& plan);
};

// What a table's options say about reading it. `dead_letter`: the query has a dead-letter table.
Result<SourceOptions> SourceOptionsOf(const Table& table, const Plan& plan, const JobSettings& settings);

}  // namespace caudal
