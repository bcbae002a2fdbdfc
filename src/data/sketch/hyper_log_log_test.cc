#include "data/sketch/hyper_log_log.h"

#include <gtest/gtest.h>

#include <cmath>

namespace caudal {
namespace {

uint64_t HashOf(uint64_t value) { return HyperLogLog::Hash(&value, sizeof(value)); }

TEST(HyperLogLog, SmallSetsAreExact) {
  HyperLogLog sketch;
  EXPECT_EQ(sketch.Estimate(), 0);
  for (uint64_t i = 0; i < HyperLogLog::kSparseLimit; ++i) {
    sketch.Add(HashOf(i));
    sketch.Add(HashOf(i / 2));
    ASSERT_EQ(sketch.Estimate(), static_cast<int64_t>(i + 1));
  }
}

TEST(HyperLogLog, StandardErrorIsWithinTwoPercent) {
  for (const uint64_t size : {300u, 1000u, 5000u, 12000u, 20000u, 100000u}) {
    const int trials = size > 50000 ? 60 : 200;
    double square = 0;
    double sum = 0;
    for (int trial = 0; trial < trials; ++trial) {
      HyperLogLog sketch;
      for (uint64_t i = 0; i < size; ++i) sketch.Add(HashOf(i + (static_cast<uint64_t>(trial) << 32)));
      const double error = static_cast<double>(sketch.Estimate()) / static_cast<double>(size) - 1;
      square += error * error;
      sum += error;
    }
    EXPECT_LE(std::sqrt(square / trials), 0.02) << size;
    EXPECT_LE(std::fabs(sum / trials), 0.006) << size;  // no bias either
  }
}

TEST(HyperLogLog, MergingGivesTheSketchOfTheUnion) {
  for (const uint64_t size : {10u, 200u, 400u, 3000u}) {
    HyperLogLog whole, left, right, empty;
    for (uint64_t i = 0; i < size; ++i) {
      whole.Add(HashOf(i));
      (i % 3 == 0 ? left : right).Add(HashOf(i));
      if (i % 5 == 0) left.Add(HashOf(i));
    }
    empty.Merge(left);
    empty.Merge(right);
    right.Merge(left);
    std::string expected, merged, other;
    whole.Serialize(&expected);
    right.Serialize(&merged);
    empty.Serialize(&other);
    EXPECT_EQ(merged, expected) << size;
    EXPECT_EQ(other, expected) << size;
  }
}

TEST(HyperLogLog, BytesComeBackAndDamageIsSeen) {
  for (const uint64_t size : {0u, 7u, 1000u}) {
    HyperLogLog sketch, copy;
    for (uint64_t i = 0; i < size; ++i) sketch.Add(HashOf(i));
    std::string bytes;
    sketch.Serialize(&bytes);
    const std::string whole = bytes + "rest";
    std::string_view in = whole;
    ASSERT_TRUE(copy.Deserialize(&in));
    EXPECT_EQ(in, "rest");
    EXPECT_EQ(copy.Estimate(), sketch.Estimate());
    for (size_t cut = 0; cut < bytes.size(); cut += 97) {
      std::string_view part = std::string_view(bytes).substr(0, cut);
      EXPECT_FALSE(copy.Deserialize(&part));
    }
  }
  std::string_view strange = "\x03 abc";
  HyperLogLog sketch;
  EXPECT_FALSE(sketch.Deserialize(&strange));
}

}  // namespace
}  // namespace caudal
