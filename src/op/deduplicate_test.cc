#include "op/deduplicate.h"

#include <gtest/gtest.h>

#include "op/testing/operator_harness.h"

namespace caudal {
namespace {

constexpr std::string_view kSchema = "id STRING, ts TIMESTAMP(3), $clock BIGINT NOT NULL";
constexpr std::string_view kNone = "-9223372036854775808";

std::unique_ptr<OperatorHarness> MakeDeduplicate(int64_t retain, bool batch = false) {
  const Schema schema = SchemaLiteral(kSchema);
  return std::make_unique<OperatorHarness>(
      std::make_unique<Deduplicate>(DeduplicateNode{{0}, 1, 2, retain}, schema, batch), schema);
}

TEST(Deduplicate, FirstToArrivePassesAndRepeatsAreCounted) {
  auto op = MakeDeduplicate(20'000);
  EXPECT_EQ(op->Rows("a | 00:00:10 | " + std::string(kNone) +
                     "\nb | 00:00:11 | -10000"
                     "\na | 00:00:09 | -9000"),
            "+I | a | 00:00:10.000 | -9223372036854775808\n+I | b | 00:00:11.000 | -10000\n");
  EXPECT_EQ(*op->fates().Get(Fate::kDuplicate), 1);
}

TEST(Deduplicate, RowAtItsClockIsLateAndNotRemembered) {
  auto op = MakeDeduplicate(20'000);
  EXPECT_EQ(op->Rows("a | 00:00:10 | 10000"), "late{watermark} +I | a | 00:00:10.000 | 10000\n");
  EXPECT_EQ(op->Rows("a | 00:00:10.001 | 10000"), "+I | a | 00:00:10.001 | 10000\n");
  EXPECT_EQ(*op->fates().Get(Fate::kDuplicate), 0);
}

// The edge of retention, by the clock of the repeat and not by its time.
TEST(Deduplicate, RetentionEndsByTheClockOfTheRepeat) {
  auto op = MakeDeduplicate(20'000);
  op->Rows("a | 00:00:10 | 0");
  EXPECT_EQ(op->Rows("a | 00:00:52 | 29999"), "");
  EXPECT_EQ(op->Rows("a | 00:00:52 | 30000"), "+I | a | 00:00:52.000 | 30000\n");
}

TEST(Deduplicate, ExpiryAndRestoreAreNotObservable) {
  auto op = MakeDeduplicate(20'000);
  op->Rows("a | 00:00:10 | 0\nb | 00:00:40 | 0");
  std::vector<std::vector<std::string>> history = {op->Snapshot()};
  op->Rows("c | 00:00:41 | 0");
  history.push_back(op->Snapshot());
  op->OnWatermark(30'000);
  EXPECT_EQ(op->StateRows(), 2);

  auto again = MakeDeduplicate(20'000);
  again->RestoreFrom(history, op->watermark());
  EXPECT_EQ(again->StateRows(), 2);
  const std::string rows = "a | 00:00:41 | 30000\nb | 00:00:41 | 30000\nc | 00:00:41 | 30000";
  EXPECT_EQ(again->Rows(rows), "+I | a | 00:00:41.000 | 30000\n");
  EXPECT_EQ(op->Rows(rows), "+I | a | 00:00:41.000 | 30000\n");
  EXPECT_GT(op->budget().used(), 0);
}

TEST(Deduplicate, NullKeysAreOneKeyAndNullTimesAreDead) {
  auto op = MakeDeduplicate(20'000);
  EXPECT_EQ(op->Rows("NULL | 00:00:10 | 0\nNULL | 00:00:10 | 0\nx | NULL | 0"),
            "dead{contract} +I | x | NULL | 0\n+I | NULL | 00:00:10.000 | 0\n");
}

TEST(Deduplicate, BatchKnowsNoLateness) {
  auto op = MakeDeduplicate(1, /*batch=*/true);
  EXPECT_EQ(op->Rows("a | 00:00:10 | 99999\na | 00:09:10 | 999999"), "+I | a | 00:00:10.000 | 99999\n");
}

}  // namespace
}  // namespace caudal
