#include "base/memory_budget.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

TEST(MemoryBudgetTest, EachLevelHasItsOwnLimit) {
  MemoryBudget process("process", 100);
  MemoryBudget small("pipeline small", 10, &process), large("pipeline large", 0, &process);
  MemoryBudget one("query small/one", 8, &small), other("query large/other", 0, &large);
  one.Charge(8);
  other.Charge(80);
  EXPECT_EQ(one.over(), nullptr);
  EXPECT_EQ(process.used(), 88);
  one.Charge(1);
  EXPECT_EQ(one.over(), &one);
  one.Charge(2);
  EXPECT_EQ(one.over(), &one);  // the nearest
  EXPECT_EQ(small.over(), &small);
  EXPECT_EQ(other.over(), nullptr);
  other.Charge(10);
  EXPECT_EQ(other.over(), &process);
}

// A pipeline over its limit is the affair of its own queries, however much others hold.
TEST(MemoryBudgetTest, OfAPipelineOverItsLimitItsLargestQueryGivesBack) {
  MemoryBudget process("process", 1000);
  MemoryBudget small("pipeline small", 10, &process), large("pipeline large", 0, &process);
  MemoryBudget one("query small/one", 0, &small), two("query small/two", 0, &small);
  MemoryBudget other("query large/other", 0, &large);
  one.Charge(4);
  two.Charge(7);
  other.Charge(500);
  EXPECT_FALSE(one.must_give_back());
  EXPECT_TRUE(two.must_give_back());
  EXPECT_FALSE(other.must_give_back());
}

// The largest query of the largest pipeline; not one that is only the largest of a small pipeline.
TEST(MemoryBudgetTest, OfAProcessOverItsLimitTheLargestPipelineGivesBack) {
  MemoryBudget process("process", 100);
  MemoryBudget small("pipeline small", 0, &process), large("pipeline large", 0, &process);
  MemoryBudget one("query small/one", 0, &small), two("query large/two", 0, &large),
      three("query large/three", 0, &large);
  one.Charge(45);
  two.Charge(40);
  three.Charge(30);
  EXPECT_FALSE(one.must_give_back());
  EXPECT_TRUE(two.must_give_back());
  EXPECT_FALSE(three.must_give_back());
}

}  // namespace
}  // namespace caudal
