#include "server/status_board.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/secret.h"
#include "watch/metrics_text.h"

namespace caudal {
namespace {

constexpr int64_t kStuckNanos = 15'000'000'000;

}  // namespace

void StatusBoard::Show(std::vector<JobProgress> jobs, std::vector<std::string> not_running) {
  std::lock_guard lock(mutex_);
  jobs_ = std::move(jobs);
  not_running_ = std::move(not_running);
  shown_nanos_ = env_->SteadyNanos();
}

HttpPage StatusBoard::Metrics() const {
  std::lock_guard lock(mutex_);
  return {200, "text/plain; version=0.0.4; charset=utf-8", MetricsText(jobs_, env_->NowMillis())};
}

HttpPage StatusBoard::Live() const {
  std::lock_guard lock(mutex_);
  if (env_->SteadyNanos() - shown_nanos_ < kStuckNanos) return {200, "text/plain; charset=utf-8", "ok\n"};
  return {503, "text/plain; charset=utf-8", "the run's loop does not go round\n"};
}

HttpPage StatusBoard::Ready() const {
  std::lock_guard lock(mutex_);
  std::string problems;
  for (const std::string& line : not_running_) problems += line + "\n";
  for (const JobProgress& job : jobs_) {
    const caudal::Status failure = job.trouble();
    if (!failure.ok()) problems += fmt::format("query {}: {}\n", job.query, failure.ToString());
  }
  return {problems.empty() ? 200 : 503, "text/plain; charset=utf-8",
          problems.empty() ? "ok\n" : Secrets::RedactMessage(problems)};
}

HttpPage StatusBoard::Status() const {
  using Json = nlohmann::ordered_json;
  std::lock_guard lock(mutex_);
  Json jobs = Json::array();
  for (const JobProgress& job : jobs_) {
    Json operators = Json::array();
    for (const OperatorProgress& node : job.operators) {
      operators.push_back(
          {{"operator", node.id},
           {"kind", node.label},
           {"rows_in", node.rows_in},
           {"rows_out", node.rows_out},
           {"busy", node.busy},
           {"blocked", node.blocked},
           {"idle", node.idle},
           {"state_rows", node.state_rows},
           {"client", Json(std::map<std::string, std::string>(node.client.begin(), node.client.end()))},
           {"warnings", node.warnings}});
    }
    jobs.push_back({{"query", job.query},
                    {"generation", job.generation},
                    {"epoch", job.checkpoints.last.number},
                    {"committed", job.checkpoints.committed},
                    {"operators", operators}});
  }
  return {200, "application/json", Secrets::Redact(Json{{"queries", jobs}}.dump()) + "\n"};
}

}  // namespace caudal
