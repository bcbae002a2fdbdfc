#include "op/windowed_topn.h"

#include <gtest/gtest.h>

#include "op/testing/operator_harness.h"

namespace caudal {
namespace {

constexpr std::string_view kWindowedInput =
    "k STRING, v BIGINT, window_end TIMESTAMP(3), $clock BIGINT NOT NULL";

// The largest `last` of each key and window of 10 s.
TopNNode Largest(int64_t last) {
  TopNNode node;
  node.partition = {0, 2};
  node.order = {{1, false, false}};
  node.last = last;
  node.emit = TopNNode::Emit::kOnWatermark;
  node.window = {10'000, 10'000, 0, 2, false};
  return node;
}

std::unique_ptr<OperatorHarness> MakeWindowedTopN(const TopNNode& node,
                                                  std::string_view input = kWindowedInput) {
  std::string output(input);
  if (node.with_rank) output.insert(output.find(", $clock"), ", rn BIGINT");
  return std::make_unique<OperatorHarness>(
      std::make_unique<WindowedTopN>(node, SchemaLiteral(std::string(input)), SchemaLiteral(output)),
      SchemaLiteral(std::string(input)));
}

TEST(WindowedTopN, AWindowLeavesOnceAndIsForgotten) {
  TopNNode node = Largest(2);
  node.with_rank = true;
  auto op = MakeWindowedTopN(node);
  EXPECT_EQ(op->Rows("a | 1 | 00:00:10 | 1000\na | 3 | 00:00:10 | 1000\na | 2 | 00:00:10 | 1000\n"
                     "a | 9 | 00:00:20 | 1000"),
            "");
  EXPECT_EQ(op->StateRows(), 2);
  EXPECT_EQ(op->OnWatermark(9'998), "");
  EXPECT_EQ(op->OnWatermark(9'999),
            "+I | a | 3 | 00:00:10.000 | 1 | 9998\n+I | a | 2 | 00:00:10.000 | 2 | 9998\n");
  EXPECT_EQ(op->StateRows(), 1);
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd), "+I | a | 9 | 00:00:20.000 | 1 | 9999\n");
  EXPECT_EQ(op->StateRows(), 0);
  EXPECT_EQ(*op->fates().Get(Fate::kAbsorbed, "TopN"), 4);
}

TEST(WindowedTopN, TheRowsOwnClockDecidesWhetherItIsLate) {
  auto op = MakeWindowedTopN(Largest(1));
  op->OnWatermark(1'000);
  // The window is still held here, and the watermark has not come: the row is late all the same.
  EXPECT_EQ(op->Rows("a | 1 | 00:00:10 | 9998\na | 5 | 00:00:10 | 9999"),
            "late{watermark} +I | a | 5 | 00:00:10.000 | 9999\n");
  EXPECT_EQ(op->OnWatermark(9'999), "+I | a | 1 | 00:00:10.000 | 1000\n");
  EXPECT_EQ(op->Rows("a | 7 | 00:00:10 | 9998"), "late{idle} +I | a | 7 | 00:00:10.000 | 9998\n");
  EXPECT_EQ(op->StateRows(), 0);
}

TEST(WindowedTopN, TakesRowsAway) {
  TopNNode node = Largest(1);
  node.retracting = true;
  auto op = MakeWindowedTopN(node);
  op->OnWatermark(1'000);
  op->Rows(
      "a | 1 | 00:00:10 | 0\na | 5 | 00:00:10 | 0\n-D | a | 5 | 00:00:10 | 0\nb | 2 | 00:00:10 | 0\n"
      "-D | b | 2 | 00:00:10 | 0");
  EXPECT_EQ(op->OnWatermark(9'999), "+I | a | 1 | 00:00:10.000 | 1000\n");
  EXPECT_EQ(op->StateRows(), 0);
}

TEST(WindowedTopN, IsRestoredWithItsWindows) {
  auto op = MakeWindowedTopN(Largest(1));
  op->Rows("a | 1 | 00:00:10 | 0\na | 2 | 00:00:20 | 0");
  op->OnWatermark(5'000);
  const auto snapshot = op->Snapshot();
  auto other = MakeWindowedTopN(Largest(1));
  other->RestoreFrom({snapshot}, {5'000, 0});
  other->Rows("a | 3 | 00:00:20 | 0");
  EXPECT_EQ(other->OnWatermark(9'999), "+I | a | 1 | 00:00:10.000 | 5000\n");
  EXPECT_EQ(other->OnWatermark(19'999), "+I | a | 3 | 00:00:20.000 | 9999\n");
  auto late = MakeWindowedTopN(Largest(1));
  late->RestoreFrom({snapshot}, {10'000, 0});
  EXPECT_EQ(late->StateRows(), 1);
}

TEST(WindowedTopN, ABatchLeavesAtItsEnd) {
  TopNNode node = Largest(2);
  node.partition = {0};
  node.emit = TopNNode::Emit::kOnEnd;
  node.first = 2;
  auto op = MakeWindowedTopN(node, "k STRING, v BIGINT");
  op->Rows("a | 1\na | 3\na | 2\nb | 1");
  EXPECT_EQ(op->OnWatermark(5'000), "");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd), "+I | a | 2\n");
}

TEST(WindowedTopN, ALongListLeavesInSteps) {
  constexpr int64_t kRows = 10'000;
  TopNNode node = Largest(kRows);
  node.partition = {0};
  node.emit = TopNNode::Emit::kOnEnd;
  auto op = MakeWindowedTopN(node, "k STRING, v BIGINT");
  std::string rows;
  for (int64_t i = 0; i < kRows; ++i) {
    rows += fmt::format("{}a | {}", rows.empty() ? "" : "\n", i);
    if (i % 2000 != 1999) continue;
    op->Rows(rows);
    rows.clear();
  }
  op->out().full_after = 1;
  op->out().keep_text = false;
  op->OnWatermark(Watermark::kEnd);
  EXPECT_EQ(op->out().rows, kRows);
  EXPECT_GE(op->resumes(), 2);
}

}  // namespace
}  // namespace caudal
