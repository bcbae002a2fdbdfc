#include "run/schedule/pool_executor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

namespace caudal {
namespace {

void Set(std::atomic<bool>* flag) {
  *flag = true;
  flag->notify_all();
}

// Until it is so, or so many milliseconds have passed.
void YieldUntil(int millis, const std::function<bool()>& reached) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(millis);
  while (!reached() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
}

// Runs when it is let, and asks to be run again.
class Held : public Runnable {
 public:
  Outcome Run() override {
    ++runs;
    Set(&entered);
    let.wait(false);
    return Outcome::kAgain;
  }
  std::atomic<int> runs = 0;
  std::atomic<bool> entered = false;
  std::atomic<bool> let = false;
};

class PoolExecutorTest : public ::testing::Test {
 protected:
  PoolExecutor pool_{Env::Real(), 2, 1};
  Held held_;
};

TEST_F(PoolExecutorTest, RetiringWaitsForNothingAndTellsWhenTheRunIsOver) {
  std::atomic<bool> parked = false;
  pool_.Wake(&held_);
  held_.entered.wait(false);
  pool_.Retire(&held_, [&] { Set(&parked); });
  EXPECT_FALSE(parked);
  Set(&held_.let);
  parked.wait(false);
  pool_.Wake(&held_);
  pool_.Detach(&held_);
  EXPECT_EQ(held_.runs, 1);
}

TEST_F(PoolExecutorTest, WhatDoesNotRunIsRetiredAtOnce) {
  bool parked = false;
  pool_.Retire(&held_, [&] { parked = true; });
  EXPECT_TRUE(parked);
  pool_.Wake(&held_);
  pool_.WakeAt(&held_, 0);
  pool_.Detach(&held_);
  EXPECT_EQ(held_.runs, 0);
}

TEST_F(PoolExecutorTest, DetachingWaitsForWhatRetiringCalls) {
  std::atomic<bool> parked = false;
  pool_.Wake(&held_);
  held_.entered.wait(false);
  pool_.Retire(&held_, [&] {
    std::this_thread::yield();
    Set(&parked);
  });
  Set(&held_.let);
  pool_.Detach(&held_);
  EXPECT_TRUE(parked);
}

TEST_F(PoolExecutorTest, AJobThatWaitsForSomebodyKeepsNoOtherFromRunning) {
  std::atomic<bool> answered = false, over = false;
  pool_.Submit(this, [&] {
    answered.wait(false);
    Set(&over);
  });
  pool_.Submit(this, [&] { Set(&answered); });
  over.wait(false);
  EXPECT_TRUE(over);
  pool_.CancelJobs(this);
}

// Jobs come and go in one process, and the allocator gives an address again.
TEST_F(PoolExecutorTest, OneThatWasDetachedLeavesNothingToTheNextAtItsAddress) {
  std::optional<Held> held(std::in_place);
  pool_.Wake(&*held);
  held->entered.wait(false);
  std::atomic<bool> parking = false;
  pool_.Retire(&*held, [&] {
    Set(&parking);
    YieldUntil(100, [] { return false; });  // for Detach to come meanwhile
  });
  Set(&held->let);
  parking.wait(false);
  pool_.Detach(&*held);

  held.emplace();
  Set(&held->let);
  pool_.Wake(&*held);
  YieldUntil(5000, [&] { return held->runs >= 3; });
  EXPECT_GE(held->runs, 3);  // it asks for more each time
  pool_.Detach(&*held);
}

}  // namespace
}  // namespace caudal
