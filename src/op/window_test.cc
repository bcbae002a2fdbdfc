#include "op/window.h"

#include <gtest/gtest.h>

#include "op/sort.h"
#include "op/testing/operator_harness.h"

namespace caudal {
namespace {

constexpr int64_t kSecond = 1000;

std::unique_ptr<OperatorHarness> MakeWindow(int64_t size, int64_t slide, bool local = false,
                                            std::string zone = "UTC") {
  const std::string time = local ? "TIMESTAMP_LTZ(3)" : "TIMESTAMP(3)";
  const Schema input = SchemaLiteral("k STRING, ts " + time + ", $clock BIGINT NOT NULL");
  const Schema output = SchemaLiteral("k STRING, ts " + time +
                                      ", window_start TIMESTAMP(3), window_end TIMESTAMP(3), window_time " +
                                      time + ", $clock BIGINT NOT NULL");
  EvaluatorOptions options;
  options.time_zone = std::move(zone);
  return std::make_unique<OperatorHarness>(
      std::make_unique<Window>(WindowNode{{size, slide, 0, 1, local}}, input, output), input, options);
}

TEST(Window, TumblePassesRowsWithTheirClock) {
  auto op = MakeWindow(10 * kSecond, 10 * kSecond);
  EXPECT_TRUE(op->op().passes_rows());
  EXPECT_EQ(op->Rows("a | 00:00:09.999 | 5\nb | NULL | 6\n-D | c | 00:00:10 | 7"),
            "dead{contract} +I | b | NULL | 6\n"
            "+I | a | 00:00:09.999 | 00:00:00.000 | 00:00:10.000 | 00:00:09.999 | 5\n"
            "-D | c | 00:00:10.000 | 00:00:10.000 | 00:00:20.000 | 00:00:19.999 | 7\n");
}

TEST(Window, HopRepeatsARowNewestWindowFirst) {
  auto op = MakeWindow(10 * kSecond, 5 * kSecond);
  EXPECT_FALSE(op->op().passes_rows());
  EXPECT_EQ(op->Rows("a | 00:00:12 | 5\nb | 00:00:30 | 6"),
            "+I | a | 00:00:12.000 | 00:00:10.000 | 00:00:20.000 | 00:00:19.999 | 5\n"
            "+I | a | 00:00:12.000 | 00:00:05.000 | 00:00:15.000 | 00:00:14.999 | 5\n"
            "+I | b | 00:00:30.000 | 00:00:30.000 | 00:00:40.000 | 00:00:39.999 | 6\n"
            "+I | b | 00:00:30.000 | 00:00:25.000 | 00:00:35.000 | 00:00:34.999 | 6\n");
  EXPECT_EQ(*op->fates().Get(Fate::kAbsorbed, "Window"), 2);
}

TEST(Window, ManyWindowsARowLeaveInSeveralChunks) {
  auto op = MakeWindow(10'000 * kSecond, kSecond);
  op->out().full_after = 1;
  op->Rows("a | 00:00:12 | 5\nb | 00:00:30 | 6");
  EXPECT_EQ(op->out().rows, 20'000);
  EXPECT_GE(op->resumes(), 4);
}

TEST(Window, LocalWindowsAreLabelledByWallClock) {
  auto op = MakeWindow(86'400 * kSecond, 86'400 * kSecond, true, "Asia/Shanghai");
  EXPECT_EQ(op->Rows("a | 15:59:59.999 | 5\na | 16:00:00 | 5"),
            "+I | a | 15:59:59.999 | 00:00:00.000 | 24:00:00.000 | 15:59:59.999 | 5\n"
            "+I | a | 16:00:00.000 | 24:00:00.000 | 48:00:00.000 | 39:59:59.999 | 5\n");
}

std::unique_ptr<OperatorHarness> MakeSort(int64_t offset, int64_t limit) {
  const Schema schema = SchemaLiteral("k STRING, v BIGINT");
  SortNode node{{{1, false, true}, {0, true, true}}, offset, limit};
  return std::make_unique<OperatorHarness>(std::make_unique<Sort>(node, schema, schema), schema);
}

TEST(Sort, OrdersAtTheEnd) {
  auto op = MakeSort(0, -1);
  EXPECT_EQ(op->Rows("a | 1\nb | NULL\nc | 5\nb | 5"), "");
  EXPECT_EQ(op->OnWatermark(5), "");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd), "+I | b | NULL\n+I | b | 5\n+I | c | 5\n+I | a | 1\n");
  EXPECT_EQ(op->StateRows(), 0);
}

TEST(Sort, LimitAndOffsetKeepFewRows) {
  auto op = MakeSort(1, 2);
  for (int c = 0; c < 10; ++c) {
    std::string rows;
    for (int i = 0; i < 4000; ++i) rows += fmt::format("k | {}\n", (c * 4000 + i) * 7 % 40'000);
    op->Rows(rows);
  }
  EXPECT_LT(op->budget().used(), 2'000'000);
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd), "+I | k | 39998\n+I | k | 39997\n");
}

}  // namespace
}  // namespace caudal
