#include "run/schedule/lane.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "run/schedule/pool_executor.h"

namespace caudal {
namespace {

// Pushes barriers numbered from 1; stops while the lane is full.
class Writer : public Runnable {
 public:
  Writer(Lane* lane, int64_t count) : lane_(lane), count_(count) {}
  Outcome Run() override {
    while (next_ <= count_) {
      if (lane_->full()) return Outcome::kIdle;
      lane_->Push(Barrier{{1, next_++}, false});
    }
    return Outcome::kIdle;
  }

 private:
  Lane* lane_;
  int64_t count_;
  int64_t next_ = 1;
};

class Reader : public Runnable {
 public:
  explicit Reader(Lane* lane) : lane_(lane) {}
  Outcome Run() override {
    Message message;
    while (lane_->Pop(&message)) {
      if (std::get<Barrier>(message).epoch.number != read + 1) in_order = false;
      ++read;
    }
    return Outcome::kIdle;
  }
  std::atomic<int64_t> read{0};
  std::atomic<bool> in_order{true};

 private:
  Lane* lane_;
};

TEST(Lane, NeitherSideIsLeftAsleep) {
  PoolExecutor pool(Env::Real(), 2, 1);
  MemoryBudget budget("test", 0);
  constexpr int64_t kCount = 100'000;
  {
    Lane lane(&pool, 640, &budget);  // ten messages
    Writer writer(&lane, kCount);
    Reader reader(&lane);
    lane.Connect(&writer, &reader);
    pool.Wake(&writer);
    while (reader.read < kCount) std::this_thread::yield();
    EXPECT_TRUE(reader.in_order);
    pool.Detach(&writer);
    pool.Detach(&reader);
  }
  EXPECT_EQ(budget.used(), 0);
}

class Counter : public Runnable {
 public:
  Outcome Run() override {
    ++runs;
    return Outcome::kIdle;
  }
  std::atomic<int> runs{0};
};

TEST(PoolExecutor, TimersFireAndJobsOfAnOwnerCanBeDropped) {
  PoolExecutor pool(Env::Real(), 1, 1);
  Counter counter;
  pool.WakeAt(&counter, Env::Real()->SteadyNanos() + 1'000'000);
  while (counter.runs == 0) std::this_thread::yield();
  pool.Detach(&counter);
  std::atomic<int> jobs{0};
  int owner = 0;
  pool.Submit(&owner, [&] { ++jobs; });
  while (jobs == 0) std::this_thread::yield();
  pool.CancelJobs(&owner);
  EXPECT_EQ(jobs, 1);
}

}  // namespace
}  // namespace caudal
