#include "run/epoch/dead_row_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caudal {
namespace {

using ::testing::HasSubstr;

DeadRowBudget::Counts Rows(int64_t read, int64_t malformed, int64_t contract = 0) {
  DeadRowBudget::Counts counts;
  counts.read = read;
  if (malformed > 0) counts.dead["malformed"] = malformed;
  if (contract > 0) counts.dead["contract"] = contract;
  return counts;
}

TEST(DeadRowBudget, AFloodIsFoundInTheNewestEpochsThatHaveEnoughRows) {
  DeadRowBudget budget({.ratio = 0.2, .rows = 100});
  EXPECT_TRUE(budget.Check(Rows(50, 50), {}).ok()) << "too few rows to judge";
  budget.Note(Rows(50, 5));
  EXPECT_TRUE(budget.Check(Rows(5'000, 900), {}).ok());
  budget.Note(Rows(5'000, 900));
  // The past is good, and does not help.
  const DeadExample first{"contract", "column 'id' is NULL", "cards[3] offset 7"};
  const Status flood = budget.Check(Rows(5'100, 910, 20), first);
  EXPECT_EQ(flood.domain(), Domain::kData);
  EXPECT_THAT(flood.ToString(),
              HasSubstr("30 of the last 100 rows are dead (20 contract, 10 malformed): 30.0 %"));
  EXPECT_THAT(flood.ToString(),
              HasSubstr("cards[3] offset 7, the first of this epoch, contract: column 'id' is NULL"));
  // A small epoch is judged with those before it.
  EXPECT_TRUE(budget.Check(Rows(5'010, 910), {}).ok());
  budget.Note(Rows(5'010, 910));
  budget.Note(Rows(5'090, 911));
  EXPECT_TRUE(budget.Check(Rows(5'110, 930), {}).ok()) << "20 of the 100 since 5,010";
  EXPECT_FALSE(budget.Check(Rows(5'110, 931), {}).ok()) << "21 of 100";
}

TEST(DeadRowBudget, WithoutALimitNothingIsTooMuch) {
  EXPECT_TRUE(DeadRowBudget(DeadRowLimit{}).Check(Rows(10'000, 10'000), {}).ok());
  EXPECT_FALSE(DeadRowBudget({.ratio = 0, .rows = 1}).Check(Rows(1, 1), {}).ok());
}

}  // namespace
}  // namespace caudal
