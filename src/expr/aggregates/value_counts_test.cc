#include "expr/aggregates/value_counts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace caudal {
namespace {

TEST(ValueCountsTest, RandomRunsAgreeWithAMap) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const uint64_t values = seed % 2 == 0 ? 40 : 20'000;  // few, and more than one table has
    ValueCounts counts;
    std::map<std::string, int64_t> expected;
    for (int step = 0; step < 40'000; ++step) {
      const uint64_t number = random() % values;
      const std::string value = number % 3 == 0 ? "a value that is not short " + std::to_string(number)
                                                : std::string(number % 3, 'x') + std::to_string(number);
      const int64_t by = random() % 2 == 0 ? 1 : -1;
      const int64_t now = expected[value] += by;
      ASSERT_EQ(counts.Add(value, by), now) << "seed " << seed << " step " << step;
      if (now == 0) expected.erase(value);
      ASSERT_EQ(counts.count(value), now);
    }
    ASSERT_EQ(counts.size(), expected.size());
    std::map<std::string, int64_t> all;
    counts.ForEach([&](std::string_view value, int64_t count) { all.emplace(value, count); });
    EXPECT_EQ(all, expected) << "seed " << seed;
  }
}

TEST(ValueCountsTest, TellsWhatItTakes) {
  ValueCounts counts;
  const int64_t empty = counts.bytes();
  EXPECT_LT(empty, 100);
  for (int64_t i = 0; i < 100'000; ++i)
    counts.Add("a value of forty bytes or not much less " + std::to_string(i), 1);
  EXPECT_GT(counts.bytes(), 100'000 * 80);
  EXPECT_LT(counts.bytes(), 100'000 * 200);
}

}  // namespace
}  // namespace caudal
