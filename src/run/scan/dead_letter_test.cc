#include "run/scan/dead_letter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/column_view.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Table LettersTable(std::vector<std::pair<std::string, Type>> columns) {
  Table table;
  table.name = "letters";
  for (auto& [name, type] : columns) {
    TableColumn& column = table.columns.emplace_back();
    column.name = name;
    column.type = type;
  }
  return table;
}

std::vector<std::pair<std::string, std::string>> HeadersOf(const Column& column, int32_t row) {
  const int32_t* ends = column.values<int32_t>();
  const ColumnView<StringView> names(*column.children()[0]), values(*column.children()[1]);
  std::vector<std::pair<std::string, std::string>> headers;
  for (int32_t i = ends[row]; i < ends[row + 1]; ++i) {
    headers.emplace_back(names[i].view(), values.IsNull(i) ? "NULL" : std::string(values[i].view()));
  }
  return headers;
}

TEST(RecordOrigin, IsAPartitionAndNoFile) {
  const auto origin = RecordOrigin::Of("bank.cards-v1[12]");
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->topic, "bank.cards-v1");
  EXPECT_EQ(origin->partition, 12);
  for (const char* file : {"part-1.json", "[3]", "a[x]", "a[3", "dt=1/a[3]", "", "a[]"}) {
    EXPECT_FALSE(RecordOrigin::Of(file).has_value()) << file;
  }
}

TEST(DeadLetterTable, ARecordOfATopicKeepsKeyAndHeadersAndSaysWhy) {
  const auto made = DeadLetterTable::Make(LettersTable({{"key", Type::Bytes()},
                                                        {"raw", Type::Bytes()},
                                                        {"headers", HeadersType()},
                                                        {"topic", Type::String()},
                                                        {"partition", Type(TypeId::kInt)}}),
                                          {"bank/silver", "7"});
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  RejectedRecord record;
  record.offset = 15;
  record.raw = "no JSON";
  record.error_class = "malformed";
  record.message = "not JSON";
  record.file = "cards[3]";
  record.key = "ann";
  record.arrival_millis = 1'700'000'000'000;
  // Of an earlier life as a dead letter: these go.
  record.headers = {{"trace", "1"},
                    {"trace", std::nullopt},
                    {"__connect.errors.offset", "9"},
                    {"__caudal.errors.source", "x"}};
  RejectedRecord tombstone;
  tombstone.no_value = true;
  tombstone.file = "part-1.json";
  const std::vector<RejectedRecord> records = {record, tombstone};
  const Chunk rows = made->FromRecords(records, "cards", 3, {"cards/scan/1", 5, 42});
  EXPECT_EQ(ColumnView<StringView>(*rows.column(0))[0].view(), "ann");
  EXPECT_TRUE(rows.column(0)->IsNull(1));
  EXPECT_TRUE(rows.column(1)->IsNull(1));
  EXPECT_EQ(ColumnView<StringView>(*rows.column(3))[0].view(), "cards");
  EXPECT_EQ(ColumnView<int32_t>(*rows.column(4))[0], 3);
  EXPECT_TRUE(rows.column(4)->IsNull(1));
  EXPECT_THAT(
      HeadersOf(*rows.column(2), 0),
      ElementsAre(Pair("trace", "1"), Pair("trace", "NULL"), Pair("__connect.errors.topic", "cards"),
                  Pair("__connect.errors.partition", "3"), Pair("__connect.errors.offset", "15"),
                  Pair("__connect.errors.connector.name", "bank/silver"),
                  Pair("__connect.errors.task.id", "5"), Pair("__connect.errors.stage", "VALUE_CONVERTER"),
                  Pair("__connect.errors.class.name", "cards/scan/1"),
                  Pair("__connect.errors.exception.class.name", "malformed"),
                  Pair("__connect.errors.exception.message", "not JSON"),
                  Pair("__caudal.errors.pipeline", "bank"), Pair("__caudal.errors.pipeline_version", "7"),
                  Pair("__caudal.errors.query_id", "bank/silver"), Pair("__caudal.errors.source", "cards"),
                  Pair("__caudal.errors.error_class", "malformed"),
                  Pair("__caudal.errors.timestamp", "1700000000000"),
                  Pair("__caudal.errors.retryable", "false"), Pair("__caudal.errors.first_seen", "42")));
}

TEST(DeadLetterTable, AColumnThatItCannotFillIsRefused) {
  const auto made = DeadLetterTable::Make(LettersTable({{"headers", Type::String()}}), {"bank/silver", ""});
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().ToString(), HasSubstr("headers MAP<STRING, BYTES>"));
}

}  // namespace
}  // namespace caudal
