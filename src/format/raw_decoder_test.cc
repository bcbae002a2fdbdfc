#include "format/raw_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/value.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;

DecodedRows Decode(const Type& type, const std::vector<std::string>& records, bool cut_last = false) {
  Schema schema;
  schema.fields = {{"v", type}};
  auto decoder = std::move(RawDecoder::Make(schema)).value();
  std::string text;
  for (const std::string& record : records) text += record;
  MutableBufferPtr bytes = Buffer::Allocate(text.size());
  std::copy(text.begin(), text.end(), bytes->mutable_data());
  RawBatch batch;
  size_t at = 0;
  for (const std::string& record : records) {
    batch.records.push_back({bytes->view().substr(at, record.size()), {}, static_cast<int64_t>(at), 0});
    at += record.size();
  }
  batch.records.back().cut = cut_last;
  batch.pins = {bytes};
  DecodedRows rows;
  EXPECT_TRUE(decoder->Decode(batch, &rows).ok());
  return rows;
}

std::vector<Value> Good(const DecodedRows& rows) {
  const Chunk chunk(rows.columns, rows.row_count, rows.selection);
  std::vector<Value> values;
  for (int32_t i = 0; i < chunk.size(); ++i) values.push_back(ValueAt(*chunk.column(0), chunk.rows()[i]));
  return values;
}

TEST(RawDecoderTest, ALineIsItsText) {
  const DecodedRows rows = Decode(Type::String(), {"a", "", " b\r ", "\xC3\xA9"});
  EXPECT_THAT(Good(rows), ElementsAre(Value(std::string("a")), Value(std::string("")),
                                      Value(std::string(" b\r ")), Value(std::string("\xC3\xA9"))));
  EXPECT_TRUE(rows.errors.empty());
}

TEST(RawDecoderTest, TextThatIsNotUtf8AndLinesWithoutEndAreErrorsOfTheRecord) {
  const DecodedRows rows = Decode(Type::String(), {"a", "b\xFF", "c", "long"}, /*cut_last=*/true);
  EXPECT_THAT(Good(rows), ElementsAre(Value(std::string("a")), Value(std::string("c"))));
  ASSERT_EQ(rows.errors.size(), 2u);
  EXPECT_EQ(rows.errors[0].record, 1);
  EXPECT_EQ(rows.errors[0].message, "column 'v': the line is not UTF-8");
  EXPECT_EQ(rows.errors[1].message, "the record is longer than 64 MB, of which the start is kept");
  EXPECT_EQ(Good(Decode(Type::Bytes(), {"b\xFF"})).size(), 1u);
}

TEST(RawDecoderTest, NumbersAreBigEndianAndOfTheirOwnLength) {
  const DecodedRows rows =
      Decode(Type(TypeId::kInt), {std::string("\0\0\1\2", 4), "abc", std::string("\xFF\xFF\xFF\xFF")});
  EXPECT_THAT(Good(rows), ElementsAre(Value(int64_t{258}), Value(int64_t{-1})));
  ASSERT_EQ(rows.errors.size(), 1u);
  EXPECT_EQ(rows.errors[0].message, "column 'v': 3 bytes are not a INT");
}

}  // namespace
}  // namespace caudal
