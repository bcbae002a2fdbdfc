// EngineRun: the engine's process of `caudal run`: starts every query of its pipelines, looks after them,
// records and serves what they show, stops them when told to. Each pipeline has a memory budget of its own,
// each query its own fate.
//
// One thread, the process's first; the queries have theirs.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "run/supervise/child_report.h"
#include "server/engine.h"
#include "server/program.h"
#include "server/query_runner.h"
#include "server/run_options.h"
#include "server/status_board.h"
#include "watch/ops_recorder.h"

namespace caudal {

// Asks of the outside, set by signal handlers.
struct RunSignals {
  volatile std::sig_atomic_t savepoint = 0;   // SIGTERM, SIGINT
  volatile std::sig_atomic_t drain = 0;       // SIGUSR1
  volatile std::sig_atomic_t checkpoint = 0;  // SIGUSR2
};

// For the line on a terminal, a few times a second.
struct RunView {
  int64_t rows_read = 0;
  double rows_per_second = 0;
  int64_t epoch = 0;
  int64_t commits = 0;
  int queries = 0;
  int running = 0;
  Status trouble;                     // what a query waits out, if any does
  std::vector<std::string> warnings;  // new ones
};

class EngineRun {
 public:
  // All outlive it.
  EngineRun(const std::vector<const Program*>& programs, RunOptions options, RunSignals* signals,
            ChildReport* report);

  // Until every query has ended: OK, or the error of the worst. `before_start`: no row had moved. At the
  // first start of a run what one query is refused for refuses the whole; later each has its own fate.
  Status Run(const std::function<void(const RunView&)>& show, bool* before_start);
  const std::vector<QueryReport>& reports() const { return reports_; }
  // Something outside has not answered yet, and may not for long; the destructor waits for it.
  bool awaits_answers() const;

 private:
  struct Pipeline {
    Pipeline(const Program* program, const RunOptions& options, Engine* engine, Env* env);
    const Program* program;
    MemoryBudget budget;
    OpsRecorder recorder;
  };
  struct Query {
    Pipeline* pipeline;
    std::unique_ptr<QueryRunner> runner;
  };

  Status Start();
  void AddQueries(Pipeline* pipeline);
  // Lets the queries go once none of them refuses to.
  Status Admit(int64_t now);
  void HandleSignals();
  void CheckIdle(int64_t now);
  void Record(int64_t now);
  RunView View(int64_t now);
  void WarnOfEnded(RunView* view);
  bool ended() const;
  void StopAll(Job::StopKind kind);
  void MakeReports();

  RunOptions options_;
  RunSignals* signals_;
  ChildReport* child_report_;
  Env* env_;
  RunLog log_;
  Engine engine_;
  StatusBoard board_;
  HttpServer http_;
  std::vector<std::unique_ptr<Pipeline>> pipelines_;
  std::vector<Query> queries_;
  std::vector<QueryReport> reports_;
  std::set<const QueryRunner*> told_ended_;
  int64_t began_nanos_ = 0;
  bool admitted_ = false;
  bool stopping_ = false;
  bool store_failed_ = false;
  int64_t commits_ = 0;
  int64_t recorded_nanos_ = 0;
  int64_t rows_seen_ = -1;
  int64_t rows_moved_nanos_ = 0;
  bool epoch_asked_ = false;  // since rows moved last, to commit them before the drain
  int64_t viewed_rows_ = 0;
  int64_t viewed_nanos_ = 0;
  double rate_ = 0;
};

}  // namespace caudal
