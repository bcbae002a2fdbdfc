// QueryRunner: one query of a run: starts its job, restarts it by the error's domain and retry, stops it.
//
// Errors of the user or the data stop this query and leave the others alone; the outside world is waited for;
// caudal's own faults are tried a few times. Called by the run's one thread, which must go round for the
// other queries: only the destructor blocks; each start, and the end of a job, have a thread of their own.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/job.h"
#include "run/supervise/restart_policy.h"
#include "run/supervise/run_log.h"
#include "server/engine.h"

namespace caudal {

class QueryRunner {
 public:
  // All outlive it.
  QueryRunner(Plan plan, JobOptions options, Env* env, RunLog* log);

  // Asks for the first start. `held`: what starts moves no row before LetGo, so that the run may still be
  // refused as a whole.
  void Begin(bool held);
  // Of a start that is held: what it came to; none as long as nothing has answered.
  const std::optional<Status>& answer() const { return answer_; }
  // It speaks against the run as a whole. But a query that an earlier run has got going waits for what is
  // away just now, and stops no other.
  bool refuses() const;
  bool has_checkpoint() const { return has_checkpoint_; }  // as of Begin
  void LetGo();
  // Looks after it; call a few times a second.
  void Tick();
  void Stop(Job::StopKind kind);
  void TriggerCheckpoint() {
    if (job_ != nullptr) job_->TriggerCheckpoint();
  }

  bool ended() const { return ended_; }
  bool ended_before() const { return ended_before_; }  // in an earlier run: nothing was done in this one
  const Status& status() const { return status_; }     // of the end
  const Plan& plan() const { return plan_; }
  // As of now, or when it last ran.
  JobProgress progress() const { return job_ != nullptr ? job_->progress() : last_; }
  bool running() const { return job_ != nullptr; }
  bool starting() const { return held_ || starting_.valid(); }
  bool has_run() const { return last_.generation > 0; }  // in this process
  // What it waits out now and then goes on; OK if nothing.
  const Status& trouble() const { return trouble_; }
  // What its starts had to say since the last call.
  std::vector<std::string> TakeWarnings() { return std::exchange(warnings_, {}); }

 private:
  void Start();
  void TakeHeld();
  void Run(std::unique_ptr<Job> job);
  void StartAgain();
  void LogCommit();
  // Logs what begins or has ended.
  void SetTrouble(Status trouble);
  void LogClient(const OperatorProgress& node);
  void Warn(const std::string& warning);
  void OnEnd(bool ran);
  void OnFailedStart(Status status);
  void EndWaiting();
  void End(Status status);

  Plan plan_;
  JobOptions options_;
  std::string name_;  // pipeline/query, as everywhere
  Env* env_;
  RunLog* log_;
  std::unique_ptr<Job> job_;
  std::future<Result<std::unique_ptr<Job>>> starting_;
  bool has_checkpoint_ = false;
  bool held_ = false;
  std::unique_ptr<Job> prepared_;  // while held
  std::optional<Status> answer_;
  std::future<void> closing_;  // the job before
  JobProgress last_;
  Status status_;
  Status trouble_;
  bool waited_ = false;  // the job did, at the last look
  std::vector<std::string> warnings_;
  int64_t trouble_since_nanos_ = 0;
  bool ended_ = false;
  bool ended_before_ = false;
  std::optional<Job::StopKind> stopping_;
  RestartPolicy policy_;
  std::map<std::pair<std::string, std::string>, std::string> logged_clients_;  // by operator and name
  std::set<std::string> logged_warnings_;                                      // of sources, while running
  int64_t logged_commits_ = 0;
  int64_t restart_at_nanos_ = 0;
};

}  // namespace caudal
