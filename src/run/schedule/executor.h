// Executor: runs Runnables when they are woken, timers and blocking jobs. Two stand behind it: a pool of
// threads, and one thread that replays any interleaving from a seed.
//
// A Runnable is run by one thread at a time and never blocks; whoever has something for it calls Wake.
// Blocking work goes to Submit. Every method may be called from any thread. The executor outlives all that
// it runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace caudal {

class Runnable {
 public:
  virtual ~Runnable() = default;
  enum class Outcome {
    kAgain,  // more to do: run again soon
    kIdle,   // nothing to do until Wake
  };
  // Bounded work, about 10 ms.
  virtual Outcome Run() = 0;

 private:
  friend class PoolExecutor;
  friend class SeededExecutor;
  enum State : int { kParked, kQueued, kRunning, kRunningWoken };
  std::atomic<int> state_{kParked};
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Runs `runnable` once more, at least, from the start of Run.
  virtual void Wake(Runnable* runnable) = 0;
  // The same at a time of Env::SteadyNanos; may wake early or twice.
  virtual void WakeAt(Runnable* runnable, int64_t steady_nanos) = 0;
  // It is not run again; calls `parked` once it is not running either, from here or from the thread that ran
  // it. Waits for nothing, so a Runnable may call it for another.
  virtual void Retire(Runnable* runnable, std::function<void()> parked) = 0;
  // After it returns nothing of `runnable` runs or will, nor what it was retired with. Waits for a Run that
  // is under way: not for Runnables to call.
  virtual void Detach(Runnable* runnable) = 0;

  // A job that may block. `owner` names it for CancelJobs.
  virtual void Submit(const void* owner, std::function<void()> job) = 0;
  // Drops the owner's waiting jobs and waits for running ones.
  virtual void CancelJobs(const void* owner) = 0;

  // Which of `count` equal choices to take: seeded, or in turn by the caller's own `turn`.
  virtual uint32_t Choose(uint32_t count, uint32_t turn) { return turn % count; }
};

}  // namespace caudal
