// Env: the door to the clock and to chance, so that everything behind it can be replayed from a seed.
//
// One Env for a process, made first and destroyed last; every method may be called from any thread. Tests and
// the simulation pass a ManualEnv. Files are reached through fs/; third-party clients (SQLite, Kafka, …) are
// the named exceptions, each behind an api/ interface.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <random>

namespace caudal {

class Env {
 public:
  virtual ~Env() = default;

  // Wall clock, microseconds since 1970-01-01T00:00:00Z. May jump.
  virtual int64_t NowMicros() = 0;
  // Never goes back; for durations and deadlines. Nanoseconds from an arbitrary start.
  virtual int64_t SteadyNanos() = 0;
  // 64 random bits.
  virtual uint64_t Random() = 0;

  int64_t NowMillis() { return NowMicros() / 1000; }

  // The process's real clock and chance; never destroyed.
  static Env* Real();
};

// A clock that moves only by Advance, and chance from a seed.
class ManualEnv : public Env {
 public:
  explicit ManualEnv(int64_t now_micros = 0, uint64_t seed = 0) : now_micros_(now_micros), random_(seed) {}

  int64_t NowMicros() override { return now_micros_.load(); }
  int64_t SteadyNanos() override { return now_micros_.load() * 1000; }
  uint64_t Random() override {
    std::lock_guard lock(mutex_);
    return random_();
  }
  void Advance(int64_t micros) { now_micros_ += micros; }

 private:
  std::atomic<int64_t> now_micros_;
  std::mutex mutex_;
  std::mt19937_64 random_;
};

}  // namespace caudal
