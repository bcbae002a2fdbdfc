// JobProgress: what a running job shows to metrics, status pages and the operations store. Plain data, a
// copy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/sink_commit.h"
#include "api/source.h"
#include "data/message.h"
#include "run/epoch/sink_path.h"
#include "run/scan/split_progress.h"
#include "state/manifest.h"

namespace caudal {

// One finished epoch.
struct EpochSample {
  Epoch epoch;
  int64_t committed_millis = 0;  // wall clock: visible everywhere
  int64_t duration_millis = 0;   // barrier to commit
  // (freshness in ms: arrival → visible commit, rows), ascending, at most 128
  std::vector<std::pair<int64_t, int64_t>> freshness;
};

struct CheckpointProgress {
  Epoch last;            // {0, 0} = none yet; what was restored counts
  bool drained = false;  // it was the end of a query that was told to drain
  int64_t committed = 0;
  int64_t abandoned = 0;
  Status last_failure;  // why the last epoch was abandoned or its commit repeated; OK after a success
  std::vector<EpochSample> recent;               // oldest first, at most 256
  std::vector<NodeState> nodes;                  // counters as of the last manifest, since the query began
  std::vector<NodeState> restored;               // counters that this run went on from; empty: it began
  int64_t restored_epoch = 0;                    // of those
  std::vector<SinkCommit> commits;               // that targets told of: the newest, at most 256
  int64_t commits_before = 0;                    // how many came before them
  std::map<std::string, int64_t> bytes_written;  // by sink, in epochs that this process made visible
};

// One plan node, its tasks together.
struct OperatorProgress {
  std::string id;
  std::string label;
  int tasks = 0;
  std::vector<int64_t> rows_in;  // since the query began, as are all counts
  int64_t rows_out = 0;
  std::vector<CountedFate> fates;
  Watermark watermark;
  double busy = 0;     // share of its tasks' time so far
  double blocked = 0;  // of the task it is in: ready, but no room downstream
  double idle = 0;
  int64_t cpu_micros = 0;
  int64_t longest_step_micros = 0;
  int64_t longest_step_cpu_micros = 0;
  int64_t state_rows = 0;
  int64_t state_bytes = 0;
  int64_t bytes_read = 0;
  int64_t ignored_values = 0;         // that could not be read and, as an option says, became NULL
  std::vector<std::string> warnings;  // of this run, each once: what is odd but stops nothing
  Backlog backlog;
  ClientFacts client;                 // of a source or a sink
  std::vector<SplitProgress> splits;  // of a source, those not finished, by id
  // The sinks whose rows pass through this node, by id: fates here are fates of each sink's path.
  std::vector<std::string> sinks;
  bool takes_input_rows = true;  // and not results that an operator made of them
  Status trouble;                // whom it waits for: somebody outside who does not answer; OK = nobody
};

enum class JobState {
  kRunning,
  kStopping,
  kFinished,
  kFailed,
  kWaiting,  // to be started, or started again: what it asks does not answer, or has failed just now
};

struct JobProgress {
  std::string query;
  JobState state = JobState::kRunning;
  Status status;
  int64_t generation = 0;
  int64_t started_millis = 0;
  int64_t now_millis = 0;
  std::vector<OperatorProgress> operators;  // plan order; "dead-letter" last if there is one
  CheckpointProgress checkpoints;
  int64_t memory_used = 0;
  int64_t memory_limit = 0;
  int64_t lane_bytes = 0;
  int64_t longest_step_micros = 0;
  bool over_memory = false;

  // What the query waits out: an epoch that cannot be made durable or visible, or an operator's trouble.
  Status trouble() const {
    if (!checkpoints.last_failure.ok()) return checkpoints.last_failure;
    for (const OperatorProgress& node : operators) {
      if (!node.trouble.ok()) return node.trouble;
    }
    return Status();
  }
};

}  // namespace caudal
