#include "op/topn.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "op/first_row.h"
#include "op/testing/operator_harness.h"

namespace caudal {
namespace {

constexpr std::string_view kInput = "k STRING, v BIGINT, id STRING";

TopNNode ByValue(int64_t last, bool ascending = false) {
  TopNNode node;
  node.partition = {0};
  node.order = {{1, ascending, ascending}};
  node.last = last;
  return node;
}

std::unique_ptr<OperatorHarness> MakeTopN(const TopNNode& node) {
  const Schema input = SchemaLiteral(kInput);
  const Schema output = SchemaLiteral(std::string(kInput) + (node.with_rank ? ", rn BIGINT" : ""));
  return std::make_unique<OperatorHarness>(std::make_unique<TopN>(node, input, output), input);
}

TEST(TopN, TopOneKeepsTheFirstOfEqualKeys) {
  auto op = MakeTopN(ByValue(1));
  EXPECT_EQ(op->Rows("a | 1 | x\na | 1 | y\na | 2 | z\na | 0 | w\nb | 1 | v"),
            "+I | a | 1 | x\n-U | a | 1 | x\n+U | a | 2 | z\n+I | b | 1 | v\n");
  EXPECT_EQ(*op->fates().Get(Fate::kAbsorbed, "TopN"), 5);
}

TEST(TopN, TopOneWithRankAndWithoutUpdateBefore) {
  TopNNode node = ByValue(1);
  node.with_rank = true;
  node.update_before = false;
  auto op = MakeTopN(node);
  EXPECT_EQ(op->Rows("a | 1 | x\na | 2 | z"), "+I | a | 1 | x | 1\n+U | a | 2 | z | 1\n");
}

TEST(TopN, WithoutRankRowsComeAndGo) {
  auto op = MakeTopN(ByValue(2));
  EXPECT_EQ(op->Rows("a | 1 | x\na | 3 | y\na | 2 | z\na | 1 | w"),
            "+I | a | 1 | x\n+I | a | 3 | y\n-D | a | 1 | x\n+I | a | 2 | z\n");
}

TEST(TopN, WithRankEachPlaceIsUpdated) {
  TopNNode node = ByValue(2);
  node.with_rank = true;
  auto op = MakeTopN(node);
  EXPECT_EQ(op->Rows("a | 1 | x\na | 3 | y\na | 2 | z"),
            "+I | a | 1 | x | 1\n-U | a | 1 | x | 1\n+U | a | 3 | y | 1\n+I | a | 1 | x | 2\n"
            "-U | a | 1 | x | 2\n+U | a | 2 | z | 2\n");
}

TEST(TopN, OffsetHidesTheFirstPlaces) {
  TopNNode node = ByValue(2);
  node.first = 2;
  auto op = MakeTopN(node);
  EXPECT_EQ(op->Rows("a | 1 | x\na | 3 | y\na | 2 | z"), "+I | a | 1 | x\n-U | a | 1 | x\n+U | a | 2 | z\n");
}

TEST(TopN, RetractionBringsBackTheNext) {
  TopNNode node = ByValue(1);
  node.retracting = true;
  auto op = MakeTopN(node);
  EXPECT_EQ(op->Rows("a | 3 | x\na | 2 | y\na | 1 | z\n-D | a | 3 | x\n-D | a | 9 | none\n-D | a | 1 | z\n-D "
                     "| a | 2 | y"),
            "+I | a | 3 | x\n-D | a | 3 | x\n+I | a | 2 | y\n-D | a | 2 | y\n");
  EXPECT_EQ(op->StateRows(), 0);
}

TEST(TopN, RetractionMovesRanks) {
  TopNNode node = ByValue(2);
  node.retracting = true;
  node.with_rank = true;
  auto op = MakeTopN(node);
  op->Rows("a | 3 | x\na | 2 | y\na | 1 | z");
  EXPECT_EQ(op->Rows("-D | a | 3 | x"),
            "-U | a | 3 | x | 1\n+U | a | 2 | y | 1\n-U | a | 2 | y | 2\n+U | a | 1 | z | 2\n");
  EXPECT_EQ(op->Rows("-D | a | 2 | y"), "-U | a | 2 | y | 1\n+U | a | 1 | z | 1\n-D | a | 1 | z | 2\n");
}

TEST(TopN, NullsStandWhereTheOrderSays) {
  TopNNode node = ByValue(1, /*ascending=*/true);  // NULLS FIRST
  auto op = MakeTopN(node);
  EXPECT_EQ(op->Rows("a | 1 | x\na | NULL | y\na | -5 | z"),
            "+I | a | 1 | x\n-U | a | 1 | x\n+U | a | NULL | y\n");
  node.order[0].nulls_first = false;
  op = MakeTopN(node);
  EXPECT_EQ(op->Rows("a | NULL | y\na | 1 | x\na | -5 | z"),
            "+I | a | NULL | y\n-U | a | NULL | y\n+U | a | 1 | x\n-U | a | 1 | x\n+U | a | -5 | z\n");
}

TEST(TopN, LastRowByRowTimeTakesTheNewestOfEqualTimes) {
  TopNNode node = ByValue(1);
  node.rowtime_last = true;
  auto op = MakeTopN(node);
  EXPECT_EQ(op->Rows("a | 1 | x\na | 1 | y\na | 0 | z"), "+I | a | 1 | x\n-U | a | 1 | x\n+U | a | 1 | y\n");
}

// Source tasks stamp processing time each for itself, so a row may come with a time before that of the row
// here.
TEST(TopN, ByArrivalTimesCountForNothing) {
  TopNNode node = ByValue(1, /*ascending=*/true);
  node.by_arrival = true;
  auto op = MakeTopN(node);
  EXPECT_EQ(op->Rows("a | 5 | x\na | 3 | y\nb | 1 | v"), "+I | a | 5 | x\n+I | b | 1 | v\n");
  EXPECT_EQ(op->Rows("a | 4 | z"), "");
  node = ByValue(1);
  node.by_arrival = true;
  node.rowtime_last = true;
  op = MakeTopN(node);
  EXPECT_EQ(op->Rows("a | 5 | x\na | 3 | y"), "+I | a | 5 | x\n-U | a | 5 | x\n+U | a | 3 | y\n");
}

// Random changelogs with restores: folding what was emitted gives the best rows at every step.
TEST(TopN, RandomRunsAgreeWithSorting) {
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    std::mt19937_64 random(seed);
    TopNNode node = ByValue(static_cast<int64_t>(random() % 3) + 1);
    node.retracting = seed % 2 == 0;
    node.with_rank = seed % 3 == 0;
    auto op = MakeTopN(node);
    std::map<std::string, std::vector<std::pair<int64_t, std::string>>>
        model;  // partition → rows as they came
    std::multiset<std::string> folded;
    std::vector<std::vector<std::string>> history;
    int next_id = 0;
    for (int step = 0; step < 30; ++step) {
      std::string rows;
      for (size_t i = 0; i < random() % 15; ++i) {
        const std::string key = "k" + std::to_string(random() % 3);
        auto& all = model[key];
        if (node.retracting && !all.empty() && random() % 2 == 0) {
          const size_t at = random() % all.size();
          rows += fmt::format("-D | {} | {} | {}\n", key, all[at].first, all[at].second);
          all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
        } else {
          all.push_back({static_cast<int64_t>(random() % 6), "r" + std::to_string(next_id++)});
          rows += fmt::format("+I | {} | {} | {}\n", key, all.back().first, all.back().second);
        }
      }
      for (const std::string& line : SplitTrimmed(op->Rows(rows), '\n')) {
        if (line.empty()) continue;
        const std::string row = line.substr(5);
        if (line[0] == '+') {
          folded.insert(row);
        } else {
          ASSERT_NE(folded.find(row), folded.end()) << "takes away what is not there: " << line;
          folded.erase(folded.find(row));
        }
      }
      std::multiset<std::string> expected;
      for (auto [key, all] : model) {
        std::stable_sort(all.begin(), all.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        for (size_t r = 0; r < std::min(all.size(), static_cast<size_t>(node.last)); ++r) {
          expected.insert(fmt::format("{} | {} | {}", key, all[r].first, all[r].second) +
                          (node.with_rank ? fmt::format(" | {}", r + 1) : ""));
        }
      }
      ASSERT_EQ(folded, expected) << "seed " << seed << " step " << step;
      if (random() % 3 == 0) {
        history.push_back(op->Snapshot());
        op = MakeTopN(node);
        op->RestoreFrom(history, {});
      }
    }
  }
}

std::unique_ptr<OperatorHarness> MakeFirst(bool batch = false) {
  const Schema schema = SchemaLiteral("k STRING, ts TIMESTAMP(3), id STRING, $clock BIGINT NOT NULL");
  TopNNode node;
  node.partition = {0};
  node.order = {{1, true, true}};
  node.rowtime_first = true;
  return std::make_unique<OperatorHarness>(std::make_unique<FirstRow>(node, schema, schema, batch), schema);
}

TEST(FirstRow, EarliestRowLeavesWhenNoEarlierCanCome) {
  auto op = MakeFirst();
  EXPECT_EQ(
      op->Rows("a | 00:00:20 | x | 0\na | 00:00:10 | y | 0\na | 00:00:10 | z | 0\nb | 00:00:05 | w | 0"), "");
  op->OnWatermark(3'000);
  EXPECT_EQ(op->OnWatermark(9'999), "+I | b | 00:00:05.000 | w | 3000\n");
  EXPECT_EQ(op->OnWatermark(10'000), "+I | a | 00:00:10.000 | y | 9999\n");
  EXPECT_EQ(op->Rows("a | 00:00:30 | v | 10000"), "");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd), "");
}

TEST(FirstRow, OnlyRowsBehindTheirClockAreLate) {
  auto op = MakeFirst();
  EXPECT_EQ(op->Rows("a | 00:00:10 | x | 10000\nb | 00:00:09.999 | y | 10000"),
            "late{watermark} +I | b | 00:00:09.999 | y | 10000\n");
  EXPECT_EQ(op->OnWatermark(10'000), "+I | a | 00:00:10.000 | x | -9223372036854775808\n");
}

TEST(FirstRow, RestoreKeepsWhatWaitsAndWhatHasLeft) {
  auto op = MakeFirst();
  op->Rows("a | 00:00:10 | x | 0\nb | 00:00:20 | y | 0");
  std::vector<std::vector<std::string>> history = {op->Snapshot()};
  op->OnWatermark(10'000);
  history.push_back(op->Snapshot());
  auto again = MakeFirst();
  again->RestoreFrom(history, op->watermark());
  EXPECT_EQ(again->Rows("a | 00:00:10 | late | 10000\nb | 00:00:15 | z | 10000"), "");
  EXPECT_EQ(again->OnWatermark(Watermark::kEnd), "+I | b | 00:00:15.000 | z | 10000\n");
}

}  // namespace
}  // namespace caudal
