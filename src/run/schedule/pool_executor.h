// PoolExecutor: a fixed number of threads for tasks (as many as cores) and some for blocking jobs: more of
// them, up to a limit, when all wait for somebody outside.
//
// Threads sleep on a condition variable when nothing is woken and no timer is due, so that idle pipelines
// cost no CPU. Made before and destroyed after everything that it runs.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/env.h"
#include "run/schedule/executor.h"

namespace caudal {

class PoolExecutor : public Executor {
 public:
  // `threads` 0 = one a core.
  explicit PoolExecutor(Env* env, int threads = 0, int job_threads = 4);
  ~PoolExecutor() override;

  void Wake(Runnable* runnable) override;
  void WakeAt(Runnable* runnable, int64_t steady_nanos) override;
  void Retire(Runnable* runnable, std::function<void()> parked) override;
  void Detach(Runnable* runnable) override;
  void Submit(const void* owner, std::function<void()> job) override;
  void CancelJobs(const void* owner) override;

 private:
  struct Job {
    const void* owner;
    std::function<void()> run;
  };
  void TaskLoop();
  void JobLoop();
  // REQUIRES: job_mutex_ is held, or nothing runs yet.
  void AddJobThread();
  void RunOne(Runnable* runnable);
  // These three: REQUIRES: mutex_ is held.
  void WakeLocked(Runnable* runnable);
  void Forget(Runnable* runnable);
  bool IsRunning(Runnable* runnable) const;
  // Moves due timers to the ready list; nanoseconds until the next one, -1 = none. REQUIRES: as above.
  int64_t FireTimers();

  Env* env_;
  std::mutex mutex_;
  std::condition_variable ready_changed_;
  std::condition_variable parked_;  // a Run has ended
  std::deque<Runnable*> ready_;
  std::multimap<int64_t, Runnable*> timers_;
  std::vector<Runnable*> running_;
  std::map<Runnable*, std::function<void()>> retiring_;  // of those running
  bool stop_ = false;

  std::mutex job_mutex_;
  std::condition_variable job_changed_;
  std::condition_variable job_done_;
  std::deque<Job> jobs_;
  std::vector<const void*> running_jobs_;
  size_t job_threads_ = 0;

  std::vector<std::thread> threads_;
};

}  // namespace caudal
