// OpsRecorder: turns what jobs show of themselves into rows of the operations store, about once a second.
//
// Called by the run's thread, off the hot path. A store that cannot be written is reported once in the log
// and tried again; it never stops a query.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/env.h"
#include "ops/ops_store.h"
#include "run/job_progress.h"
#include "watch/run_report.h"

namespace caudal {

// What the pipeline file says about a query.
struct QueryOrigin {
  std::string pipeline;
  std::string owner;
  std::string version;
};

class OpsRecorder {
 public:
  OpsRecorder(std::string state_root, QueryOrigin origin, Env* env)
      : state_root_(std::move(state_root)), origin_(std::move(origin)), env_(env) {}

  // What the query did since the last call; generation 0: it could not start, and why is all that is known.
  void Observe(const Plan& plan, const JobProgress& progress);
  // Writes what was observed; an error keeps it for the next call.
  Status Flush();

 private:
  struct Seen {  // of a query, at the last rows of streaming_progress
    int64_t generation = 0;
    int64_t epoch = 0;
    int64_t attempt = 0;  // looks at that epoch: its commit, then those while nothing happened
    int64_t bytes = 0;
    int64_t nanos = 0;
    int64_t commits = 0;  // of this generation, how many were told
    QueryReport report;
    std::set<std::string> warnings;        // of this generation, by operator and text
    std::map<std::string, size_t> losses;  // of this generation, by operator and split: how many were told
  };
  struct Live {  // of a query, at the last call
    int64_t rows = 0;
    int64_t nanos = 0;
    double rows_per_second = 0;
  };

  // A generation begins: what an earlier process counted is no news of this one.
  void Begin(const Plan& plan, const JobProgress& progress, Seen* seen);
  void AddEpochs(const JobProgress& progress, int64_t after);
  void AddCommits(const JobProgress& progress, Seen* seen);
  // A row for each sink.
  void AddProgress(const JobProgress& progress, const QueryReport& report, Seen* seen);
  void AddFates(const JobProgress& progress, const QueryReport& report);
  void AddOperators(const JobProgress& progress);
  void AddSplits(const JobProgress& progress, Seen* seen);
  void AddClients(const JobProgress& progress);
  void AddWarnings(const JobProgress& progress, Seen* seen);
  void AddQuery(const JobProgress& progress);

  std::string state_root_;
  QueryOrigin origin_;
  Env* env_;
  std::unique_ptr<OpsStore> store_;
  int64_t expire_at_nanos_ = 0;
  std::map<std::string, Seen> seen_;
  std::map<std::string, Live> live_;
  std::vector<OpsRow> rows_;
};

}  // namespace caudal
