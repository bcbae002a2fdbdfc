#include "data/sketch/hyper_log_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "data/sketch/ranks.h"

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

// What most panes of a window hold: one value or two.
TEST(HyperLogLog, AFewValuesTakeNoMemoryOfTheirOwn) {
  static_assert(sizeof(HyperLogLog) == 16);
  HyperLogLog sketch, copy, many;
  for (uint64_t i = 0; i < HyperLogLog::kFew; ++i) sketch.Add(HashOf(i));
  EXPECT_EQ(sketch.bytes(), 0u);
  for (uint64_t i = 0; i < 100; ++i) many.Add(HashOf(i));
  EXPECT_GT(many.bytes(), 0u);
  // A sketch that had many keeps its memory when it is made as one of few, and goes on from there.
  const size_t before = many.bytes();
  many.Assign(sketch);
  EXPECT_EQ(many.bytes(), before);
  EXPECT_EQ(many.Estimate(), static_cast<int64_t>(HyperLogLog::kFew));
  many.Add(HashOf(1000));
  copy.Assign(many);
  copy.Merge(sketch);
  EXPECT_EQ(copy.Estimate(), static_cast<int64_t>(HyperLogLog::kFew) + 1);
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

TEST(HyperLogLog, AssignTakesOverEitherForm) {
  HyperLogLog small, large, copy;
  for (uint64_t i = 0; i < 20; ++i) small.Add(HashOf(i));
  for (uint64_t i = 0; i < 2000; ++i) large.Add(HashOf(i));
  for (const HyperLogLog* from : {&large, &small, &large, &large, &small}) {
    copy.Assign(*from);
    std::string expected, bytes;
    from->Serialize(&expected);
    copy.Serialize(&bytes);
    EXPECT_EQ(bytes, expected);
  }
}

TEST(HyperLogLog, ListsThatOverlapMergeInPlace) {
  for (const uint64_t step : {1u, 2u, 3u, 7u}) {
    HyperLogLog whole, left, right;
    for (uint64_t i = 0; i < 120; ++i) {
      whole.Add(HashOf(i));
      left.Add(HashOf(i));
      whole.Add(HashOf(i * step));
      right.Add(HashOf(i * step));
    }
    left.Merge(right);
    std::string expected, merged;
    whole.Serialize(&expected);
    left.Serialize(&merged);
    EXPECT_EQ(merged, expected) << step;
  }
}

// Ertl's algorithm 6 as he writes it, a histogram at a time, over the ranks of a dense sketch.
int64_t EstimateByHistogram(const std::string& ranks) {
  const double m = static_cast<double>(ranks.size());
  int histogram[54] = {};
  for (const char rank : ranks) ++histogram[static_cast<size_t>(rank)];
  double tau = 0;
  if (double x = 1 - histogram[53] / m; x != 0 && x != 1) {
    double y = 1;
    tau = 1 - x;
    for (double before = -1; tau != before;) {
      x = std::sqrt(x);
      before = tau;
      y *= 0.5;
      tau -= (1 - x) * (1 - x) * y;
    }
    tau /= 3;
  }
  double z = m * tau;
  for (int rank = 52; rank >= 1; --rank) z = 0.5 * (z + histogram[rank]);
  double x = histogram[0] / m, sigma = x, y = 1;
  for (double before = -1; x < 1 && sigma != before;) {
    x *= x;
    before = sigma;
    sigma += x * y;
    y += y;
  }
  return std::llround(0.7213475204444817 * m * m / (z + m * sigma));
}

TEST(HyperLogLog, EstimateIsThatOfTheHistogramForAnyRanks) {
  std::mt19937_64 random(7);
  for (const int highest : {1, 3, 7, 8, 15, 16, 17, 30, 41, 42, 53}) {
    std::string ranks(HyperLogLog::kRegisters, '\0');
    for (int round = 0; round < 40; ++round) {
      for (char& rank : ranks) {
        if (random() % 8 < 5) continue;
        const int high = 1 + __builtin_ctzll(random() | uint64_t{1} << 52);
        rank = static_cast<char>(random() % 50 == 0 ? random() % static_cast<unsigned>(highest + 1)
                                                    : static_cast<unsigned>(std::min(high, highest)));
      }
      const std::string bytes = "\x02" + ranks;
      std::string_view in = bytes;
      HyperLogLog sketch;
      ASSERT_TRUE(sketch.Deserialize(&in));
      ASSERT_EQ(sketch.Estimate(), EstimateByHistogram(ranks)) << highest;
    }
  }
}

TEST(Ranks, EachBecomesTheHigher) {
  std::mt19937_64 random(7);
  std::vector<uint8_t> a(64), b(64), higher(64);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<uint8_t>(random() % 54);
    b[i] = static_cast<uint8_t>(random() % 54);
    higher[i] = std::max(a[i], b[i]);
  }
  RaiseRanks(a.data(), b.data(), a.size());
  EXPECT_EQ(a, higher);
}

}  // namespace
}  // namespace caudal
