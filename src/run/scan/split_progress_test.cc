#include "run/scan/split_progress.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

constexpr int64_t kNow = 1'000'000;

SplitProgress Read(int64_t records, int64_t waiting, int64_t millis) {
  SplitProgress split;
  split.records = records;
  split.backlog.rows = waiting;
  split.backlog.millis = millis;
  split.first_arrival_millis = records > 0 ? kNow - 900 : -1;
  return split;
}

TEST(SplitProgressTest, NothingWaitsIsZeroSeconds) {
  SplitProgress split = Read(10, 0, 0);
  split.SetDurable(10, kNow - 500, kNow);
  EXPECT_EQ(split.durable.rows, 0);
  EXPECT_EQ(split.durable.millis, 0);
}

TEST(SplitProgressTest, WhatIsReadAndNotCommittedWaitsToo) {
  SplitProgress split = Read(10, 5, 200);
  split.SetDurable(4, kNow - 500, kNow);
  EXPECT_EQ(split.durable.rows, 11);
  EXPECT_EQ(split.durable.millis, 500);
  split.SetDurable(-1, -1, kNow);  // no commit yet
  EXPECT_EQ(split.durable.rows, 15);
  EXPECT_EQ(split.durable.millis, 900);
}

TEST(SplitProgressTest, WhatIsNotKnownStaysSo) {
  SplitProgress split = Read(10, -1, -1);
  split.SetDurable(4, kNow - 500, kNow);
  EXPECT_EQ(split.durable.rows, -1);
  EXPECT_EQ(split.durable.millis, -1);
  split = Read(0, 7, -1);  // nothing of it has been read: its age is not known
  split.SetDurable(-1, -1, kNow);
  EXPECT_EQ(split.durable.rows, 7);
  EXPECT_EQ(split.durable.millis, -1);
}

}  // namespace
}  // namespace caudal
