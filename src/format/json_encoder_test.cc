#include "format/json_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "data/column_builder.h"
#include "format/json_decoder.h"

namespace caudal {
namespace {

std::string Encode(const Type& type, const Value& value, JsonOptions options = {}) {
  Schema schema;
  schema.fields = {{"v", type}};
  auto encoder = JsonEncoder::Make(schema, std::move(options));
  EXPECT_TRUE(encoder.ok());
  ColumnBuilder builder(type);
  builder.AppendValue(value);
  std::string text;
  std::vector<size_t> ends;
  const Status status = (*encoder)->Encode(Chunk({builder.Finish()}, 1), &text, &ends);
  if (!status.ok()) return status.message();
  EXPECT_EQ(ends, (std::vector<size_t>{text.size()}));
  return text;
}

// KF-18: NaN and infinity when writing.
TEST(JsonEncoderTest, EveryLineIsStrictJson) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Encode(Type(TypeId::kDouble), Value(std::nan(""))), R"({"v":"NaN"})");
  EXPECT_EQ(Encode(Type(TypeId::kDouble), Value(-infinity)), R"({"v":"-Infinity"})");
  EXPECT_EQ(Encode(Type(TypeId::kDouble), Value(1e300)), R"({"v":1.0E300})");
  EXPECT_EQ(Encode(Type(TypeId::kDouble), Value(-0.0)), R"({"v":-0.0})");
  EXPECT_EQ(Encode(Type::Decimal(10, 0), Value(int64_t{100})), R"({"v":100})");
  EXPECT_EQ(Encode(Type::Decimal(10, 2), Value(int64_t{-5})), R"({"v":-0.05})");
  EXPECT_EQ(Encode(Type::String(), Value(std::string("a\"\\\n\x01 \xC3\xA9 \xFF"))),
            "{\"v\":\"a\\\"\\\\\\n\\u0001 \xC3\xA9 \xEF\xBF\xBD\"}");
  EXPECT_EQ(Encode(Type::Bytes(), Value(std::string("hello"))), R"({"v":"aGVsbG8="})");
  EXPECT_EQ(Encode(Type::Bytes(), Value(std::string("hi"))), R"({"v":"aGk="})");
  EXPECT_EQ(Encode(Type(TypeId::kBoolean), Value(true)), R"({"v":true})");
  EXPECT_EQ(Encode(Type(TypeId::kInt), Value()), R"({"v":null})");
  EXPECT_EQ(Encode(Type::Timestamp(3), Value(int64_t{1'772'368'496'789'000})),
            R"({"v":"2026-03-01 12:34:56.789"})");
  JsonOptions iso;
  iso.timestamp_form = TimestampForm::kIso8601;
  EXPECT_EQ(Encode(Type::TimestampLtz(3), Value(int64_t{1'772'368'496'000'000}), iso),
            R"({"v":"2026-03-01T12:34:56Z"})");
}

TEST(JsonEncoderTest, NestedValuesAndNullKeys) {
  const Type row = Type::Row({{"a", Type(TypeId::kInt)}, {"b", Type::Array(Type::String())}});
  EXPECT_EQ(
      Encode(row, Value(ValueList{Value(int64_t{1}), Value(ValueList{Value(std::string("x")), Value()})})),
      R"({"v":{"a":1,"b":["x",null]}})");
  const Type map = Type::Map(Type::String(), Type(TypeId::kInt));
  const Value entries(ValueList{Value(std::string("k")), Value(int64_t{1}), Value(), Value(int64_t{2})});
  EXPECT_EQ(Encode(map, entries), "a map has a NULL key, which JSON cannot write");
  JsonOptions options;
  options.null_key = JsonOptions::NullKey::kDrop;
  EXPECT_EQ(Encode(map, entries, options), R"({"v":{"k":1}})");
  options.null_key = JsonOptions::NullKey::kLiteral;
  options.null_key_literal = "nil";
  EXPECT_EQ(Encode(map, entries, options), R"({"v":{"k":1,"nil":2}})");
}

// As Flink 2.3 wrote them.
TEST(JsonEncoderTest, DecimalsAreShortWhenPlainOnesAreNotAskedFor) {
  JsonOptions options;
  options.plain_decimals = false;
  const auto encode = [&](int scale, int64_t unscaled) {
    return Encode(Type::Decimal(18, scale), Value(unscaled), options);
  };
  EXPECT_EQ(encode(10, 270), R"({"v":2.7E-8})");
  EXPECT_EQ(encode(10, 12345), R"({"v":0.0000012345})");
  EXPECT_EQ(encode(2, 10000), R"({"v":1E+2})");
  EXPECT_EQ(encode(2, 110), R"({"v":1.1})");
  EXPECT_EQ(encode(0, 1234567890), R"({"v":1.23456789E+9})");
  EXPECT_EQ(encode(2, 0), R"({"v":0})");
  EXPECT_EQ(encode(2, -10000), R"({"v":-1E+2})");
}

TEST(JsonEncoderTest, LeavesNullsOutWhenAsked) {
  JsonOptions options;
  options.ignore_null_fields = true;
  EXPECT_EQ(Encode(Type(TypeId::kInt), Value(), options), "{}");
  // In rows within rows too, as in Flink; elements of arrays and values of maps stay.
  const Type row =
      Type::Row({{"a", Type(TypeId::kInt)}, {"b", Type(TypeId::kInt)}, {"c", Type(TypeId::kInt)}});
  EXPECT_EQ(Encode(row, Value(ValueList{Value(), Value(int64_t{1}), Value()}), options), R"({"v":{"b":1}})");
}

}  // namespace
}  // namespace caudal
