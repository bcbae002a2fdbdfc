#include "server/query_runner.h"

#include <fmt/format.h>

#include <chrono>

namespace caudal {
namespace {

constexpr RestartPolicy::Limits kLimits = {5, 200, 30'000};

template <typename T>
bool IsReady(const std::future<T>& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

QueryRunner::QueryRunner(Plan plan, JobOptions options, Env* env, RunLog* log)
    : plan_(std::move(plan)),
      options_(std::move(options)),
      name_(options_.pipeline + "/" + plan_.query),
      env_(env),
      log_(log),
      policy_(kLimits) {
  last_.query = name_;
  last_.state = JobState::kWaiting;  // there is no job yet
}

void QueryRunner::Begin(bool held) {
  held_ = held;
  has_checkpoint_ = Job::HasCheckpoint(plan_, options_);
  Start();
}

bool QueryRunner::refuses() const {
  if (!answer_ || answer_->ok()) return false;
  return answer_->retry() != Retry::kBackoff || !has_checkpoint_;
}

void QueryRunner::LetGo() {
  held_ = false;
  if (!answer_) return;  // Tick takes it when it comes
  if (answer_->ok()) return Run(std::move(prepared_));
  OnFailedStart(*answer_);
}

void QueryRunner::Start() {
  starting_ = std::async(std::launch::async, [plan = plan_, options = options_]() mutable {
    return Job::Prepare(std::move(plan), options);
  });
}

void QueryRunner::TakeHeld() {
  if (!starting_.valid() || !IsReady(starting_)) return;
  Result<std::unique_ptr<Job>> job = starting_.get();
  answer_ = job.status();
  if (job.ok()) prepared_ = std::move(job).value();
}

void QueryRunner::Run(std::unique_ptr<Job> job) {
  job_ = std::move(job);
  job_->Begin();
  last_ = job_->progress();
  // From here on it is this run that drains it or meets the end of its input, and reports it.
  const bool first_of_run = std::exchange(options_.refuse_drained, false);
  ended_before_ = first_of_run && job_->ended_before();
  log_->Write(fmt::format("event=started query={} generation={}", name_, job_->generation()));
  for (const std::string& warning : job_->warnings()) {
    warnings_.push_back(fmt::format("query '{}': {}", name_, warning));
    log_->Write(fmt::format("event=warning query={} text={}", name_, RunLog::Quoted(warning)));
  }
  if (stopping_) job_->Stop(*stopping_);
}

void QueryRunner::StartAgain() {
  if (held_) return TakeHeld();
  if (!starting_.valid()) {
    // A drain after all went well has yet to be made.
    if (stopping_ && (stopping_ != Job::StopKind::kDrain || !status_.ok())) return EndWaiting();
    if (env_->SteadyNanos() >= restart_at_nanos_) Start();
    return;
  }
  if (!IsReady(starting_)) return;
  Result<std::unique_ptr<Job>> job = starting_.get();
  if (job.ok()) return Run(std::move(job).value());
  OnFailedStart(job.status());
}

void QueryRunner::OnFailedStart(Status status) {
  status_ = std::move(status);
  last_.status = status_;
  OnEnd(/*ran=*/false);
}

void QueryRunner::Tick() {
  if (ended_ || (closing_.valid() && !IsReady(closing_))) return;
  if (job_ == nullptr) return StartAgain();
  const bool finished = job_->finished();  // before the progress, so that the last counts are in it
  last_ = job_->progress();
  for (const OperatorProgress& node : last_.operators) {
    for (const std::string& warning : node.warnings) Warn(warning);
    LogClient(node);
  }
  const CheckpointProgress& checkpoints = last_.checkpoints;
  Status trouble = last_.trouble();
  const bool committed = checkpoints.committed > logged_commits_;
  if (committed) {
    policy_.Progressed();
    logged_commits_ = checkpoints.committed;
    LogCommit();
  }
  const bool waits = !trouble.ok(), waited = std::exchange(waited_, waits);
  if (committed || waits || waited) SetTrouble(std::move(trouble));
  if (!finished) return;
  status_ = job_->status();
  const bool again = job_->schema_changed();
  // It may have to wait for a call to the outside that it can no longer use.
  closing_ = std::async(std::launch::async, [job = std::move(job_)]() mutable { job.reset(); });
  logged_commits_ = 0;
  if (status_.ok() && !again) return End(Status());
  OnEnd(/*ran=*/true);
}

// With what the manifest holds: what is open in state, and how rows ended that were not wanted.
void QueryRunner::LogCommit() {
  const CheckpointProgress& checkpoints = last_.checkpoints;
  int64_t late = 0, duplicate = 0, dead = 0;
  std::string state;
  for (const NodeState& node : checkpoints.nodes) {
    if (node.state_rows > 0)
      state += fmt::format("{}{}:{}", state.empty() ? "" : ",", node.id, node.state_rows);
    for (const CountedFate& fate : node.fates) {
      if (fate.fate == "late") late += fate.rows;
      if (fate.fate == "duplicate") duplicate += fate.rows;
      if (fate.fate == "dead") dead += fate.rows;
    }
  }
  log_->Write(fmt::format(
      "event=commit query={} generation={} epoch={} late={} duplicate={} dead={} state={}", name_,
      checkpoints.last.generation, checkpoints.last.number, late, duplicate, dead, RunLog::Quoted(state)));
}

void QueryRunner::SetTrouble(Status trouble) {
  const int64_t now = env_->SteadyNanos();
  if (trouble.ok() && !trouble_.ok()) {
    log_->Write(
        fmt::format("event=recovered query={} after_ms={}", name_, (now - trouble_since_nanos_) / 1'000'000));
  }
  if (!trouble.ok() && trouble_.ok()) trouble_since_nanos_ = now;
  if (!trouble.ok() && (trouble_.ok() || trouble.message() != trouble_.message())) {
    log_->Write(fmt::format("event=stalled query={} error={}", name_, RunLog::Quoted(trouble.ToString())));
  }
  trouble_ = std::move(trouble);
}

// When it is new or another than before.
void QueryRunner::LogClient(const OperatorProgress& node) {
  for (const auto& [name, value] : node.client) {
    std::string& logged = logged_clients_[{node.id, name}];
    if (logged == value) continue;
    logged = value;
    log_->Write(
        fmt::format("event=client query={} operator={} {}={}", name_, node.id, name, RunLog::Quoted(value)));
  }
}

// Once, however often the query is started again.
void QueryRunner::Warn(const std::string& warning) {
  if (!logged_warnings_.insert(warning).second) return;
  warnings_.push_back(fmt::format("query '{}': {}", name_, warning));
  log_->Write(fmt::format("event=warning query={} text={}", name_, RunLog::Quoted(warning)));
}

// What an error means for the query. One that did not run has lost nothing by not getting going again.
void QueryRunner::OnEnd(bool ran) {
  const std::optional<int64_t> pause = policy_.AfterEnd(status_);
  if (!status_.ok()) {
    log_->Write(fmt::format("event=failed query={} domain={} attempt={} error={}", name_,
                            DomainName(status_.domain()), policy_.failures(),
                            RunLog::Quoted(status_.ToString())));
    if (!pause || (stopping_ && ran)) return End(status_);
  }
  if (!status_.ok()) SetTrouble(status_);
  last_.state = JobState::kWaiting;
  restart_at_nanos_ = env_->SteadyNanos() + *pause * 1'000'000;
}

// It was told to stop before it could be started again. Nothing has moved since its last epoch, so that a
// savepoint has nothing to add.
void QueryRunner::EndWaiting() {
  if (stopping_ != Job::StopKind::kDrain) return End(Status());
  End(
      Status(status_).Hint("the query was to be drained, and could not be started for that; it goes on at "
                           "its last epoch when it is started again"));
}

void QueryRunner::End(Status status) {
  status_ = std::move(status);
  if (!status_.ok()) {
    last_.state = JobState::kFailed;
  } else if (last_.state == JobState::kWaiting) {
    last_.state = JobState::kFinished;
    last_.status = Status();
  }
  ended_ = true;
  held_ = false;
  prepared_.reset();
  log_->Write(fmt::format("event=ended query={} ok={}", name_, status_.ok()));
}

void QueryRunner::Stop(Job::StopKind kind) {
  stopping_ = kind;
  if (job_ != nullptr) job_->Stop(kind);
  if (held_ && kind == Job::StopKind::kSavepoint) End(Status());
}

}  // namespace caudal
