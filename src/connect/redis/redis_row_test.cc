// Rows as the server gets them: keys, hashes and JSON, against format 'json'.
#include "connect/redis/redis_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "data/column_builder.h"
#include "format/json_encoder.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;

struct Example {
  Type type;
  Value value;
  std::string text;  // in a hash
};

const std::vector<Example>& Examples() {
  static const std::vector<Example> examples = {
      {Type::String().WithNullable(false), Value(std::string("k")), "k"},
      {Type(TypeId::kBoolean), Value(true), "TRUE"},
      {Type(TypeId::kBoolean), Value(false), "FALSE"},
      {Type(TypeId::kTinyInt), Value(int64_t{-128}), "-128"},
      {Type(TypeId::kBigInt), Value(std::numeric_limits<int64_t>::min()), "-9223372036854775808"},
      {Type::Decimal(18, 2), Value(int64_t{-50}), "-0.50"},
      {Type::Decimal(38, 6), Value(int128_t{1} << 100), "1267650600228229401496703.205376"},
      {Type(TypeId::kFloat), Value(double{0.1f}), "0.1"},
      {Type(TypeId::kDouble), Value(1e10), "1.0E10"},
      {Type(TypeId::kDouble), Value(std::numeric_limits<double>::quiet_NaN()), "NaN"},
      {Type(TypeId::kDouble), Value(-std::numeric_limits<double>::infinity()), "-Infinity"},
      {Type::String(), Value(std::string("caf\xC3\xA9 \"\\\n\x01")), "caf\xC3\xA9 \"\\\n\x01"},
      {Type::Bytes(), Value(std::string("\0\1\r\n", 4)), std::string("\0\1\r\n", 4)},
      {Type(TypeId::kDate), Value(int64_t{19723}), "2024-01-01"},
      {Type::Time(3), Value(int64_t{3723004}), "01:02:03.004"},
      {Type::Timestamp(3), Value(int64_t{1740992400120000}), "2025-03-03 09:00:00.120"},
      {Type::Timestamp(3), Value(int64_t{1740992400000000}), "2025-03-03 09:00:00.000"},
      {Type::TimestampLtz(3), Value(int64_t{1740992400120000}), "2025-03-03 09:00:00.120Z"},
      {Type::String(), Value(std::string()), ""},
  };
  return examples;
}

// The one record of a segment with a value of every type, the first its key.
struct Written {
  Schema schema;
  Chunk chunk;
  std::string cells;
  RedisBatch batch;
};

Written Write(std::string_view format) {
  Written written;
  std::vector<ColumnPtr> columns;
  for (const Example& example : Examples()) {
    written.schema.fields.push_back({"c" + std::to_string(columns.size()), example.type});
    columns.push_back(ConstantColumn(example.type, example.value, 1));
    CellEncoder(*columns.back()).Append(0, &written.cells);
  }
  written.schema.fields.push_back({"none", Type::String()});
  columns.push_back(ConstantColumn(Type::String(), Value(), 1));
  CellEncoder(*columns.back()).Append(0, &written.cells);
  written.chunk = Chunk(columns, 1);
  auto layout = RedisLayout::Of(written.schema, {0}, "row:{c0}", format, 0);
  EXPECT_TRUE(layout.ok()) << layout.status().ToString();
  auto again = RedisLayout::Parse(layout->ToJson());
  EXPECT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->ToJson(), layout->ToJson());
  auto writer = RedisRowWriter::Make(*again);
  SegmentRecord record;
  record.cells = written.cells;
  EXPECT_TRUE(writer->Read(record));
  writer->AppendTo(&written.batch);
  return written;
}

TEST(RedisRow, AHashHasEveryTypeAsCastToStringWritesIt) {
  const Written written = Write("hash");
  const RedisCommand& actions = written.batch.actions;
  EXPECT_EQ(written.batch.keys.at(0), "row:k");
  EXPECT_EQ(actions.at(0), "H");
  EXPECT_EQ(actions.at(1), std::to_string(2 * Examples().size()));
  EXPECT_EQ(actions.at(2), "1");
  for (size_t i = 0; i < Examples().size(); ++i) {
    EXPECT_EQ(actions.at(static_cast<int64_t>(3 + 2 * i)), "c" + std::to_string(i));
    EXPECT_EQ(actions.at(static_cast<int64_t>(4 + 2 * i)), Examples()[i].text) << i;
  }
  EXPECT_EQ(actions.at(actions.count - 1), "none");  // a NULL: the field goes
}

TEST(RedisRow, JsonIsThatOfTheFormat) {
  const Written written = Write("json");
  auto encoder = JsonEncoder::Make(written.schema, JsonOptions());
  ASSERT_TRUE(encoder.ok()) << encoder.status().ToString();
  std::string expected;
  std::vector<size_t> ends;
  ASSERT_TRUE((*encoder)->Encode(written.chunk, &expected, &ends).ok());
  EXPECT_EQ(written.batch.actions.at(0), "S");
  EXPECT_EQ(written.batch.actions.at(1), expected);
}

TEST(RedisRow, DamageIsFound) {
  const auto layout =
      RedisLayout::Of({{{"id", Type::String()}, {"n", Type(TypeId::kInt)}}}, {0}, "{id}", "hash", 0);
  auto writer = RedisRowWriter::Make(*layout);
  std::string cells;
  CellEncoder(*ConstantColumn(Type::String(), Value(std::string("k")), 1)).Append(0, &cells);
  RedisBatch batch;
  SegmentRecord record;
  record.cells = cells;
  EXPECT_FALSE(writer->Read(record));  // the second column is missing
  record.is_delete = true;
  EXPECT_TRUE(writer->Read(record));
  cells += '\0';
  record.cells = cells;
  EXPECT_FALSE(writer->Read(record));  // one too many
  for (
      const char* header :
      {"", "{}", "[]", R"({"columns": [], "key": [0], "template": "", "format": "hash", "ttl_ms": 0})",
       R"({"columns": [{"name": "a", "kind": "odd"}], "key": [0], "template": "{a}", "format": "hash", "ttl_ms": 0})",
       R"({"columns": [{"name": "a", "kind": "text"}], "key": [1], "template": "{a}", "format": "hash", "ttl_ms": 0})",
       R"({"columns": [{"name": "a", "kind": "text"}], "key": [0], "template": "", "format": "hash", "ttl_ms": 0})"}) {
    EXPECT_EQ(RedisLayout::Parse(header).status().domain(), Domain::kData) << header;
  }
}

TEST(RedisRow, ZerosThatAreEqualAreOneKey) {
  const auto layout = RedisLayout::Of({{{"x", Type(TypeId::kDouble)}}}, {0}, "{x}", "hash", 0);
  auto writer = RedisRowWriter::Make(*layout);
  RedisBatch batch;
  for (const double zero : {0.0, -0.0}) {
    std::string cells;
    CellEncoder(*ConstantColumn(Type(TypeId::kDouble), Value(zero), 1)).Append(0, &cells);
    SegmentRecord record;
    record.cells = cells;
    ASSERT_TRUE(writer->Read(record));
    writer->AppendTo(&batch);
  }
  EXPECT_EQ(batch.keys.at(0), "0.0");
  EXPECT_EQ(batch.keys.at(1), "0.0");
}

}  // namespace
}  // namespace caudal
