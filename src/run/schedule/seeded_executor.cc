#include "run/schedule/seeded_executor.h"

#include <algorithm>

namespace caudal {

void SeededExecutor::Wake(Runnable* runnable) {
  const int state = runnable->state_.load(std::memory_order_relaxed);
  if (state == Runnable::kParked) {
    runnable->state_ = Runnable::kQueued;
    ready_.push_back(runnable);
  } else if (state == Runnable::kRunning) {
    runnable->state_ = Runnable::kRunningWoken;
  }
}

void SeededExecutor::WakeAt(Runnable* runnable, int64_t steady_nanos) {
  timers_.emplace(steady_nanos, runnable);
}

void SeededExecutor::Detach(Runnable* runnable) {
  std::erase(ready_, runnable);
  std::erase_if(timers_, [&](const auto& timer) { return timer.second == runnable; });
  runnable->state_ = Runnable::kQueued;  // a later Wake does nothing
}

void SeededExecutor::Retire(Runnable* runnable, std::function<void()> parked) {
  Detach(runnable);  // there is one thread: nothing else runs
  parked();
}

void SeededExecutor::Submit(const void* owner, std::function<void()> job) {
  jobs_.push_back({owner, std::move(job)});
}

void SeededExecutor::CancelJobs(const void* owner) {
  std::erase_if(jobs_, [&](const Job& job) { return job.owner == owner; });
}

uint32_t SeededExecutor::Choose(uint32_t count, uint32_t) { return static_cast<uint32_t>(random_() % count); }

bool SeededExecutor::RunOne() {
  while (!timers_.empty() && timers_.begin()->first <= env_->SteadyNanos()) {
    Runnable* runnable = timers_.begin()->second;
    timers_.erase(timers_.begin());
    Wake(runnable);
  }
  const size_t choices = ready_.size() + jobs_.size();
  if (choices == 0) return false;
  const size_t choice = random_() % choices;
  if (choice >= ready_.size()) {
    const size_t at = choice - ready_.size();
    const std::function<void()> run = std::move(jobs_[at].run);
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(at));
    run();
    return true;
  }
  Runnable* runnable = ready_[choice];
  ready_[choice] = ready_.back();
  ready_.pop_back();
  runnable->state_ = Runnable::kRunning;
  const bool again = runnable->Run() == Runnable::Outcome::kAgain;
  const bool woken = runnable->state_ == Runnable::kRunningWoken;
  runnable->state_ = Runnable::kParked;
  if (again || woken) Wake(runnable);
  return true;
}

bool SeededExecutor::RunUntilIdle(int64_t limit) {
  for (int64_t i = 0; i < limit; ++i) {
    if (!RunOne()) return true;
  }
  return false;
}

}  // namespace caudal
