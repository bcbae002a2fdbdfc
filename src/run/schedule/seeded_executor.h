// SeededExecutor: one thread, the caller's, that takes the next runnable, job or timer by chance from a seed:
// the same seed gives the same interleaving. For the simulation and the .test runner.
//
// Not thread-safe. Timers compare with Env::SteadyNanos, which a ManualEnv moves.
#pragma once

#include <map>
#include <random>
#include <vector>

#include "base/env.h"
#include "run/schedule/executor.h"

namespace caudal {

class SeededExecutor : public Executor {
 public:
  SeededExecutor(Env* env, uint64_t seed) : env_(env), random_(seed) {}

  void Wake(Runnable* runnable) override;
  void WakeAt(Runnable* runnable, int64_t steady_nanos) override;
  void Retire(Runnable* runnable, std::function<void()> parked) override;
  void Detach(Runnable* runnable) override;
  void Submit(const void* owner, std::function<void()> job) override;
  void CancelJobs(const void* owner) override;
  uint32_t Choose(uint32_t count, uint32_t turn) override;

  // Runs one thing that is ready; false when nothing is before time moves.
  bool RunOne();
  // At most `limit` things; false when the limit was reached first.
  bool RunUntilIdle(int64_t limit = INT64_MAX);
  // SteadyNanos of the next timer; INT64_MAX = none.
  int64_t next_timer() const { return timers_.empty() ? INT64_MAX : timers_.begin()->first; }

 private:
  struct Job {
    const void* owner;
    std::function<void()> run;
  };
  Env* env_;
  std::mt19937_64 random_;
  std::vector<Runnable*> ready_;
  std::multimap<int64_t, Runnable*> timers_;
  std::vector<Job> jobs_;
};

}  // namespace caudal
