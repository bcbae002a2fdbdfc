#include "run/schedule/pool_executor.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace caudal {
namespace {

constexpr size_t kMostJobThreads = 64;

// What `top -H` and a profile show.
void NameThread(std::thread& thread, const char* kind, int number) {
  pthread_setname_np(thread.native_handle(), (std::string(kind) + "-" + std::to_string(number)).c_str());
}

}  // namespace

PoolExecutor::PoolExecutor(Env* env, int threads, int job_threads) : env_(env) {
  if (threads <= 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { TaskLoop(); });
    NameThread(threads_.back(), "task", i);
  }
  for (int i = 0; i < job_threads; ++i) AddJobThread();
}

void PoolExecutor::AddJobThread() {
  threads_.emplace_back([this] { JobLoop(); });
  NameThread(threads_.back(), "job", static_cast<int>(job_threads_++));
}

PoolExecutor::~PoolExecutor() {
  {
    std::scoped_lock lock(mutex_, job_mutex_);
    stop_ = true;
  }
  ready_changed_.notify_all();
  job_changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void PoolExecutor::Wake(Runnable* runnable) {
  int state = runnable->state_.load();
  if (state == Runnable::kQueued || state == Runnable::kRunningWoken) return;
  // Its thread queues it again.
  if (state == Runnable::kRunning &&
      runnable->state_.compare_exchange_strong(state, Runnable::kRunningWoken)) {
    return;
  }
  std::lock_guard lock(mutex_);
  WakeLocked(runnable);
}

void PoolExecutor::WakeLocked(Runnable* runnable) {
  int state = runnable->state_.load();
  for (;;) {
    if (state == Runnable::kQueued || state == Runnable::kRunningWoken) return;
    const int next = state == Runnable::kParked ? Runnable::kQueued : Runnable::kRunningWoken;
    if (runnable->state_.compare_exchange_weak(state, next)) break;
  }
  if (state == Runnable::kRunning) return;
  ready_.push_back(runnable);
  ready_changed_.notify_one();
}

void PoolExecutor::WakeAt(Runnable* runnable, int64_t steady_nanos) {
  bool first = false;
  {
    std::lock_guard lock(mutex_);
    first = timers_.empty() || steady_nanos < timers_.begin()->first;
    timers_.emplace(steady_nanos, runnable);
  }
  if (first) ready_changed_.notify_one();  // someone sleeps for too long
}

void PoolExecutor::Forget(Runnable* runnable) {
  std::erase(ready_, runnable);
  std::erase_if(timers_, [&](const auto& timer) { return timer.second == runnable; });
  runnable->state_ = Runnable::kQueued;  // a later Wake does nothing
}

bool PoolExecutor::IsRunning(Runnable* runnable) const {
  return std::find(running_.begin(), running_.end(), runnable) != running_.end();
}

void PoolExecutor::Retire(Runnable* runnable, std::function<void()> parked) {
  {
    std::lock_guard lock(mutex_);
    if (IsRunning(runnable)) {
      retiring_[runnable] = std::move(parked);
      return;
    }
    Forget(runnable);
  }
  parked();
}

void PoolExecutor::Detach(Runnable* runnable) {
  std::unique_lock lock(mutex_);
  if (IsRunning(runnable)) {
    retiring_.try_emplace(runnable, nullptr);
    parked_.wait(lock, [&] { return !IsRunning(runnable); });
    // Still there when what it was retired with ran meanwhile: it would retire whoever comes to live at the
    // same address.
    retiring_.erase(runnable);
  }
  Forget(runnable);
}

int64_t PoolExecutor::FireTimers() {
  if (timers_.empty()) return -1;
  const int64_t now = env_->SteadyNanos();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Runnable* runnable = timers_.begin()->second;
    timers_.erase(timers_.begin());
    WakeLocked(runnable);
  }
  return timers_.empty() ? -1 : std::max<int64_t>(1, timers_.begin()->first - now);
}

void PoolExecutor::TaskLoop() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const int64_t wait = FireTimers();
    if (ready_.empty()) {
      if (wait < 0) {
        ready_changed_.wait(lock);
      } else {
        ready_changed_.wait_for(lock, std::chrono::nanoseconds(wait));
      }
      continue;
    }
    Runnable* runnable = ready_.front();
    ready_.pop_front();
    running_.push_back(runnable);
    if (!ready_.empty()) ready_changed_.notify_one();
    lock.unlock();
    RunOne(runnable);
    lock.lock();
    // Whether it runs, is retired or parked changes under the lock, so that Retire and Detach see one of
    // them.
    if (const auto retiring = retiring_.find(runnable); retiring != retiring_.end()) {
      const std::function<void()> parked = std::move(retiring->second);
      retiring_.erase(retiring);
      Forget(runnable);
      lock.unlock();
      if (parked) parked();
      lock.lock();
    } else if (int running = Runnable::kRunning;
               !runnable->state_.compare_exchange_strong(running, Runnable::kParked)) {
      runnable->state_ = Runnable::kQueued;
      ready_.push_back(runnable);
    }
    running_.erase(std::find(running_.begin(), running_.end(), runnable));
    parked_.notify_all();
  }
}

void PoolExecutor::RunOne(Runnable* runnable) {
  runnable->state_ = Runnable::kRunning;
  if (runnable->Run() == Runnable::Outcome::kAgain) runnable->state_ = Runnable::kRunningWoken;
}

void PoolExecutor::Submit(const void* owner, std::function<void()> job) {
  {
    std::lock_guard lock(job_mutex_);
    jobs_.push_back({owner, std::move(job)});
    if (running_jobs_.size() + jobs_.size() > job_threads_ && job_threads_ < kMostJobThreads) AddJobThread();
  }
  job_changed_.notify_one();
}

void PoolExecutor::CancelJobs(const void* owner) {
  std::unique_lock lock(job_mutex_);
  std::erase_if(jobs_, [&](const Job& job) { return job.owner == owner; });
  job_done_.wait(lock, [&] {
    return std::find(running_jobs_.begin(), running_jobs_.end(), owner) == running_jobs_.end();
  });
}

void PoolExecutor::JobLoop() {
  std::unique_lock lock(job_mutex_);
  for (;;) {
    job_changed_.wait(lock, [&] { return stop_ || !jobs_.empty(); });
    if (stop_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    running_jobs_.push_back(job.owner);
    lock.unlock();
    job.run();
    job.run = nullptr;
    lock.lock();
    running_jobs_.erase(std::find(running_jobs_.begin(), running_jobs_.end(), job.owner));
    job_done_.notify_all();
  }
}

}  // namespace caudal
