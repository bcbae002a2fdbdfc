#include "server/query_runner.h"

#include <fmt/format.h>

namespace caudal {
namespace {

constexpr RestartPolicy::Limits kLimits = {5, 200, 60'000};

}  // namespace

QueryRunner::QueryRunner(Plan plan, JobOptions options, Env* env, RunLog* log)
    : plan_(std::move(plan)), options_(std::move(options)), env_(env), log_(log), policy_(kLimits) {}

Status QueryRunner::Start() {
  ASSIGN_OR_RETURN(job_, Job::Start(plan_, options_));
  log_->Write(fmt::format("event=started query={} generation={}", plan_.query, job_->generation()));
  for (const std::string& warning : job_->warnings()) {
    log_->Write(fmt::format("event=warning query={} text={}", plan_.query, RunLog::Quoted(warning)));
  }
  return Status();
}

void QueryRunner::Tick() {
  if (ended_) return;
  if (job_ == nullptr) {
    if (stopping_) return End(Status());
    if (env_->SteadyNanos() < restart_at_nanos_) return;
    Status status = Start();
    if (!status.ok()) {
      status_ = std::move(status);
      OnEnd();
    }
    return;
  }
  const bool finished = job_->finished();  // before the progress, so that the last counts are in it
  last_ = job_->progress();
  const CheckpointProgress& checkpoints = last_.checkpoints;
  if (checkpoints.committed > logged_commits_) {
    policy_.Progressed();
    logged_commits_ = checkpoints.committed;
    log_->Write(fmt::format("event=commit query={} generation={} epoch={}", plan_.query,
                            checkpoints.last.generation, checkpoints.last.number));
  }
  if (!finished) return;
  status_ = job_->status();
  const bool again = job_->schema_changed();
  job_.reset();
  logged_commits_ = 0;
  if (status_.ok() && !again) return End(Status());
  OnEnd();
}

// What an error means for the query.
void QueryRunner::OnEnd() {
  const std::optional<int64_t> pause = policy_.AfterEnd(status_);
  if (!status_.ok()) {
    log_->Write(fmt::format("event=failed query={} domain={} attempt={} error={}", plan_.query,
                            DomainName(status_.domain()), policy_.failures(),
                            RunLog::Quoted(status_.ToString())));
    if (!pause || stopping_) return End(status_);
  }
  restart_at_nanos_ = env_->SteadyNanos() + *pause * 1'000'000;
}

void QueryRunner::End(Status status) {
  status_ = std::move(status);
  ended_ = true;
  log_->Write(fmt::format("event=ended query={} ok={}", plan_.query, status_.ok()));
}

void QueryRunner::Stop(Job::StopKind kind) {
  stopping_ = true;
  if (job_ != nullptr) job_->Stop(kind);
}

}  // namespace caudal
