#include "run/task.h"

#include <algorithm>

namespace caudal {
namespace {

constexpr int64_t kPublishNanos = 100'000'000;
constexpr int64_t kRunNanos = 10'000'000;
constexpr int64_t kBlockedPause = 10'000'000;

}  // namespace

TaskNode* Task::NextNode() {
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if ((*node)->ready()) return node->get();
  }
  return nullptr;
}

Runnable::Outcome Task::Run() {
  const int64_t start = job_->env->SteadyNanos();
  if (blocked_since_ != 0) {
    blocked_nanos_ += start - blocked_since_;
    blocked_since_ = 0;
  }
  int64_t now = start;
  for (int step = 0; step < steps_ && now - start < kRunNanos; ++step) {
    TaskNode* node = cancelled_ ? nullptr : NextNode();
    if (node == nullptr) {
      Park(now);
      return Outcome::kIdle;
    }
    Status status = node->Step();
    if (!status.ok()) {
      cancelled_ = true;
      job_->control->OnFailure(
          std::move(status).At("in " + node->frame() + " of query '" + job_->query + "'"));
      return Outcome::kIdle;
    }
    const int64_t end = job_->env->SteadyNanos();
    busy_nanos_ += end - now;
    longest_step_nanos_ = std::max(longest_step_nanos_, end - now);
    now = end;
  }
  if (now >= publish_at_) Publish();
  return Outcome::kAgain;
}

void Task::Park(int64_t now) {
  if (now >= publish_at_) Publish();
  if (cancelled_) return;
  const bool waits =
      std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node->waits_for_room(); });
  if (waits) blocked_since_ = now;
  int64_t at = INT64_MAX;
  for (const std::unique_ptr<TaskNode>& node : nodes_) at = std::min(at, node->wake_at());
  if (at == INT64_MAX) return;
  // What is due and cannot be done waits for room, which wakes us; asking again at once would only burn CPU.
  if (at <= now) at = now + kBlockedPause;
  if (armed_at_ <= now || at < armed_at_) {
    armed_at_ = at;
    job_->executor->WakeAt(this, at);
  }
}

void Task::Publish() {
  publish_at_ = job_->env->SteadyNanos() + kPublishNanos;
  TaskProgress progress;
  for (const std::unique_ptr<TaskNode>& node : nodes_) progress.nodes.push_back(node->progress());
  progress.busy_nanos = busy_nanos_;
  progress.blocked_nanos = blocked_nanos_;
  progress.longest_step_nanos = longest_step_nanos_;
  std::lock_guard lock(mutex_);
  published_ = std::move(progress);
}

TaskProgress Task::progress() const {
  std::lock_guard lock(mutex_);
  return published_;
}

}  // namespace caudal
