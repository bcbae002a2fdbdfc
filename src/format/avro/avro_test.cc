// Literals from Avro's specification (long, record, array, map, union), and what must be refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/avro/container.h"
#include "format/avro/decoder.h"
#include "format/avro/encoder.h"
#include "format/avro/resolution.h"

namespace caudal::avro {
namespace {

using std::string_literals::operator""s;
using testing::HasSubstr;

Schema Parsed(std::string_view json) {
  auto schema = Schema::Parse(json);
  EXPECT_TRUE(schema.ok()) << schema.status().ToString();
  return schema.ok() ? std::move(schema).value() : Schema();
}

std::string Encoded(const Schema& schema, const Value& value) {
  std::string bytes;
  const Status status = Encode(schema, value, &bytes);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return bytes;
}

// Both ways: `value` is written as `bytes`, and they are read as `value`.
void ExpectForm(std::string_view json, const Value& value, const std::string& bytes) {
  const Schema schema = Parsed(json);
  EXPECT_EQ(Encoded(schema, value), bytes) << json;
  Decoder decoder(&schema, bytes);
  const auto read = decoder.Next();
  ASSERT_TRUE(read.ok()) << json << ": " << read.status().ToString();
  EXPECT_EQ(*read, value) << json;
  EXPECT_TRUE(decoder.at_end());
}

std::string DecodeError(std::string_view json, std::string_view bytes, const Limits& limits = {}) {
  const Schema schema = Parsed(json);
  const auto read = Decoder(&schema, bytes, limits).Next();
  return read.ok() ? "read" : read.status().message();
}

TEST(AvroBinary, NumbersAsTheSpecificationShows) {
  const std::pair<int64_t, std::string> longs[] = {{0, "\0"s},  {-1, "\x01"},  {1, "\x02"},     {-2, "\x03"},
                                                   {2, "\x04"}, {-64, "\x7f"}, {64, "\x80\x01"}};
  for (const auto& [number, bytes] : longs) ExpectForm(R"("long")", Value(number), bytes);
  ExpectForm(R"("long")", Value(INT64_MAX), "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  ExpectForm(R"("long")", Value(INT64_MIN), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  ExpectForm(R"("int")", Value(INT32_MIN), "\xff\xff\xff\xff\x0f");
  ExpectForm(R"("float")", Value(1.5f), "\0\0\xc0\x3f"s);
  ExpectForm(R"("double")", Value(-2.0), "\0\0\0\0\0\0\0\xc0"s);
  ExpectForm(R"("boolean")", Value(true), "\x01");
  ExpectForm(R"("null")", Value(), "");
}

TEST(AvroBinary, NestedAsTheSpecificationShows) {
  ExpectForm(R"("string")", Value("foo"s),
             "\x06"
             "foo");
  ExpectForm(
      R"({"type":"record","name":"test","fields":[{"name":"a","type":"long"},{"name":"b","type":"string"}]})",
      Value(ValueList{Value(int64_t{27}), Value("foo"s)}),
      "\x36\x06"
      "foo");
  ExpectForm(R"({"type":"array","items":"long"})", Value(ValueList{Value(int64_t{3}), Value(int64_t{27})}),
             "\x04\x06\x36\0"s);
  ExpectForm(R"({"type":"map","values":"boolean"})", Value(MapEntries{{"k", Value(true)}}),
             "\x02\x02k\x01\0"s);
  ExpectForm(R"(["null","string"])", Branch(0, Value()), "\0"s);
  ExpectForm(R"(["null","string"])", Branch(1, Value("a"s)),
             "\x02\x02"
             "a");
  ExpectForm(R"({"type":"enum","name":"Foo","symbols":["A","B"]})", Value(int32_t{1}), "\x02");
  ExpectForm(R"({"type":"fixed","name":"two","size":2})", Value("xy"s), "xy");
}

TEST(AvroBinary, BlocksWithTheirSizeAreRead) {
  // Two blocks, the first with a negative count and its length in bytes.
  const Schema schema = Parsed(R"({"type":"array","items":"long"})");
  const auto read = Decoder(&schema, "\x03\x04\x06\x36\x02\x04\0"s).Next();
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(*read, Value(ValueList{Value(int64_t{3}), Value(int64_t{27}), Value(int64_t{2})}));
}

TEST(AvroBinary, ARecordMayContainItself) {
  ExpectForm(
      R"({"type":"record","name":"L","fields":[{"name":"v","type":"int"},{"name":"next","type":["null","L"]}]})",
      Value(ValueList{Value(1), Branch(1, Value(ValueList{Value(2), Branch(0, Value())}))}),
      "\x02\x02\x04\0"s);
}

TEST(AvroBinary, DamageIsNamedWithFieldAndByte) {
  const char* kRecord =
      R"({"type":"record","name":"r","fields":[{"name":"a","type":"long"},
          {"name":"b","type":{"type":"array","items":{"type":"record","name":"s","fields":[{"name":"c","type":"string"}]}}}]})";
  EXPECT_EQ(DecodeError(kRecord, "\x02\x04\x02x\x08yz\0"s),
            "field 'b[1].c': a length of 4 where 3 bytes are left (at byte 5)");
  EXPECT_EQ(DecodeError(R"("long")", "\x80"), "the bytes end inside a number (at byte 1)");
  EXPECT_EQ(DecodeError(R"("long")", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
            "a number of more than 64 bits (at byte 9)");
  EXPECT_EQ(DecodeError(R"("int")", "\x80\x80\x80\x80\x10"), "2147483648 is no int of 32 bits (at byte 5)");
  EXPECT_EQ(DecodeError(R"("boolean")", "\x02"), "a boolean is neither 0 nor 1 (at byte 0)");
  EXPECT_EQ(DecodeError(R"("string")", "\x02\xff"), "a string that is not UTF-8 (at byte 1)");
  EXPECT_EQ(DecodeError(R"("string")", "\x01"), "a length of -1 where 0 bytes are left (at byte 1)");
  EXPECT_EQ(DecodeError(R"(["null","int"])", "\x04"), "branch 2 of a union of 2 (at byte 0)");
  EXPECT_EQ(DecodeError(R"({"type":"enum","name":"e","symbols":["A"]})", "\x02"),
            "symbol 1 of an enum of 1 (at byte 1)");
}

TEST(AvroBinary, NoLengthIsBelieved) {
  // 2^40 items of 8 bytes in a block of none; 2^40 nulls; a record of 2^30 empty records.
  EXPECT_EQ(DecodeError(R"({"type":"array","items":"double"})", "\x80\x80\x80\x80\x80\x80\x01"),
            "a block of 2199023255552 items where 0 bytes are left (at byte 0)");
  EXPECT_EQ(DecodeError(R"({"type":"array","items":"null"})", "\x80\x80\x80\x80\x80\x80\x01"),
            "a block of 2199023255552 items where 0 bytes are left (at byte 0)");
  EXPECT_THAT(
      DecodeError(R"({"type":"array","items":"double"})", "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
      HasSubstr("a block of -9223372036854775808 bytes"));
  std::string doubled = R"({"type":"record","name":"r0","fields":[{"name":"a","type":"null"}]})";
  for (int i = 1; i <= 30; ++i) {
    doubled = R"({"type":"record","name":"r)" + std::to_string(i) + R"(","fields":[{"name":"a","type":)" +
              doubled + R"(},{"name":"b","type":"r)" + std::to_string(i - 1) + R"("}]})";
  }
  EXPECT_THAT(DecodeError(doubled, ""), HasSubstr("more than 4194304 values in one datum"));
}

TEST(AvroBinary, DepthHasALimit) {
  const char* kList = R"({"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]})";
  EXPECT_THAT(DecodeError(kList, std::string(1000, '\x02')), HasSubstr("types nest deeper than 64 levels"));
}

TEST(AvroBinary, AValueOfAnotherTypeIsNotWritten) {
  const Schema schema =
      Parsed(R"({"type":"record","name":"r","fields":[{"name":"a","type":["null","int"]}]})");
  std::string bytes;
  EXPECT_EQ(Encode(schema, Value(ValueList{Branch(1, Value(int64_t{1}))}), &bytes).message(),
            "a value that its Avro schema does not have, at 'a'");
  EXPECT_EQ(Encode(schema, Value(ValueList{Value()}), &bytes).message(),
            "a value that its Avro schema does not have, at 'a'");
}

}  // namespace
}  // namespace caudal::avro
