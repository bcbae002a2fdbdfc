// The vectors of the specification's Appendix B, and cases that other engines got wrong.
#include "iceberg/transform.h"

#include <gtest/gtest.h>

#include "data/text/time_text.h"
#include "iceberg/single_value.h"

namespace caudal::iceberg {
namespace {

using std::string_literals::operator""s;

Type Decimal(int precision, int scale) {
  Type type(TypeId::kDecimal);
  type.precision = precision;
  type.scale = scale;
  return type;
}

int64_t Micros(const char* text) {
  int64_t ticks = 0;
  EXPECT_TRUE(ParseTimestamp(text, 6, &ticks)) << text;
  return ticks;
}

Value Apply(const char* transform, TypeId type, Value value) {
  return Transform::Parse(transform).Apply(Type(type), value);
}

TEST(Transform, HashesAreThoseOfTheSpecification) {
  const auto number = [](TypeId type, int64_t value) { return BucketHash(Type(type), Value(value)); };
  EXPECT_EQ(number(TypeId::kInt, 34), 2017239379);
  EXPECT_EQ(number(TypeId::kLong, 34), 2017239379);
  EXPECT_EQ(number(TypeId::kDate, DaysFromCivil(2017, 11, 16)), -653330422);
  EXPECT_EQ(number(TypeId::kTime, ((22 * 60 + 31) * 60 + 8) * int64_t{1'000'000}), -662762989);
  const int64_t instant = Micros("2017-11-16 22:31:08");
  EXPECT_EQ(number(TypeId::kTimestamp, instant), -2047944441);
  EXPECT_EQ(number(TypeId::kTimestampTz, instant + 1), -1207196810);
  EXPECT_EQ(number(TypeId::kTimestampNs, (instant + 1) * 1000 + 999), -1207196810);
  EXPECT_EQ(BucketHash(Decimal(9, 2), Value(int128_t{1420})), -500754589);
  EXPECT_EQ(BucketHash(Type(TypeId::kString), Value("iceberg"s)), 1210000089);
  EXPECT_EQ(BucketHash(Type(TypeId::kUuid),
                       Value("\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7"s)),
            1488055340);
  EXPECT_EQ(BucketHash(Type(TypeId::kBinary), Value("\0\1\2\3"s)), -188683207);
  EXPECT_EQ(BucketHash(Type(TypeId::kFixed), Value("\0\1\2\3"s)), -188683207);
}

TEST(Transform, TimesBefore1970AreRoundedDown) {
  const int64_t last = Micros("1969-12-31 23:59:59");
  for (const char* unit : {"year", "month", "day", "hour"}) {
    EXPECT_EQ(Apply(unit, TypeId::kTimestamp, Value(last)), Value(int64_t{-1})) << unit;
    EXPECT_EQ(Apply(unit, TypeId::kTimestampNs, Value(last * 1000 - 1)), Value(int64_t{-1})) << unit;
    EXPECT_EQ(Apply(unit, TypeId::kTimestampTz, Value(int64_t{0})), Value(int64_t{0})) << unit;
  }
  EXPECT_EQ(Apply("day", TypeId::kDate, Value(DaysFromCivil(1969, 12, 25))), Value(int64_t{-7}));
  EXPECT_EQ(Apply("month", TypeId::kDate, Value(DaysFromCivil(1968, 11, 30))), Value(int64_t{-14}));
  EXPECT_EQ(Apply("year", TypeId::kDate, Value(DaysFromCivil(2017, 11, 16))), Value(int64_t{47}));
  EXPECT_EQ(Apply("month", TypeId::kTimestamp, Value(Micros("2017-11-16 22:31:08"))), Value(int64_t{574}));
  EXPECT_EQ(Apply("hour", TypeId::kTimestamp, Value(Micros("2017-11-16 22:31:08"))), Value(int64_t{419686}));
}

TEST(Transform, TruncateRoundsDownAndCutsBetweenCharacters) {
  EXPECT_EQ(Apply("truncate[10]", TypeId::kInt, Value(int64_t{1})), Value(int64_t{0}));
  EXPECT_EQ(Apply("truncate[10]", TypeId::kInt, Value(int64_t{-1})), Value(int64_t{-10}));
  EXPECT_EQ(Apply("truncate[10]", TypeId::kLong, Value(int64_t{-10})), Value(int64_t{-10}));
  EXPECT_EQ(Transform::Parse("truncate[50]").Apply(Decimal(9, 2), Value(int128_t{1065})),
            Value(int128_t{1050}));
  EXPECT_EQ(Transform::Parse("truncate[50]").Apply(Decimal(9, 2), Value(int128_t{-1})), Value(int128_t{-50}));
  EXPECT_EQ(Apply("truncate[3]", TypeId::kString, Value("iceberg"s)), Value("ice"s));
  EXPECT_EQ(Apply("truncate[3]", TypeId::kString, Value("ab"s)), Value("ab"s));
  EXPECT_EQ(Apply("truncate[2]", TypeId::kString, Value("é😀x"s)), Value("é😀"s));
  EXPECT_EQ(Apply("truncate[2]", TypeId::kBinary, Value("\1\2\3"s)), Value("\1\2"s));
}

TEST(Transform, NullStaysNull) {
  for (const char* text : {"identity", "bucket[4]", "truncate[4]", "year", "void"}) {
    EXPECT_EQ(Apply(text, TypeId::kDate, Value()), Value()) << text;
  }
  EXPECT_EQ(Apply("void", TypeId::kLong, Value(int64_t{1})), Value());
  EXPECT_EQ(Apply("identity", TypeId::kLong, Value(int64_t{1})), Value(int64_t{1}));
  EXPECT_EQ(Apply("bucket[16]", TypeId::kLong, Value(int64_t{34})), Value(int64_t{2017239379 % 16}));
  // A negative hash gives a bucket from 0 on.
  EXPECT_EQ(Apply("bucket[100]", TypeId::kBinary, Value("\0\1\2\3"s)),
            Value(int64_t{(-188683207 & INT32_MAX) % 100}));
}

TEST(Transform, EachKnowsItsResult) {
  const auto result = [](const char* transform, TypeId source) {
    const auto type = Transform::Parse(transform).ResultType(Type(source));
    return type.ok() ? TypeText(*type) : type.status().message();
  };
  EXPECT_EQ(result("bucket[3]", TypeId::kString), "int");
  EXPECT_EQ(result("day", TypeId::kTimestampTz), "date");
  EXPECT_EQ(result("hour", TypeId::kTimestampNs), "int");
  EXPECT_EQ(result("truncate[3]", TypeId::kString), "string");
  EXPECT_EQ(result("void", TypeId::kDouble), "double");
  EXPECT_EQ(result("hour", TypeId::kDate), "the transform 'hour' has no meaning for a column of type date");
  EXPECT_EQ(result("bucket[3]", TypeId::kDouble),
            "the transform 'bucket[3]' has no meaning for a column of type double");
  EXPECT_EQ(result("identity", TypeId::kVariant),
            "the transform 'identity' has no meaning for a column of type variant");
  for (const char* unknown : {"bucket[0]", "bucket[]", "bucket", "bucket[3", "truncate[-1]", "zorder", ""}) {
    EXPECT_EQ(Transform::Parse(unknown).kind, Transform::Kind::kUnknown) << unknown;
    EXPECT_EQ(Transform::Parse(unknown).text, unknown);
  }
}

void ExpectSingle(const Type& type, const Value& value, const std::string& bytes) {
  EXPECT_EQ(EncodeSingleValue(type, value), bytes) << TypeText(type);
  const auto decoded = DecodeSingleValue(type, bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  EXPECT_EQ(*decoded, value) << TypeText(type);
}

TEST(SingleValue, BytesAreThoseOfTheSpecification) {
  ExpectSingle(Type(TypeId::kBoolean), Value(true), "\1");
  ExpectSingle(Type(TypeId::kInt), Value(int64_t{-2}), "\xfe\xff\xff\xff");
  ExpectSingle(Type(TypeId::kLong), Value(int64_t{1}), "\1\0\0\0\0\0\0\0"s);
  ExpectSingle(Type(TypeId::kFloat), Value(1.5), "\0\0\xc0\x3f"s);
  ExpectSingle(Type(TypeId::kDouble), Value(-2.0), "\0\0\0\0\0\0\0\xc0"s);
  ExpectSingle(Type(TypeId::kDate), Value(int64_t{-1}), "\xff\xff\xff\xff");
  ExpectSingle(Type(TypeId::kTimestampTz), Value(int64_t{256}), "\0\1\0\0\0\0\0\0"s);
  ExpectSingle(Type(TypeId::kString), Value("é"s), "\xc3\xa9");
  ExpectSingle(Type(TypeId::kUuid), Value("0123456789abcdef"s), "0123456789abcdef");
  ExpectSingle(Decimal(9, 2), Value(int128_t{1420}), "\x05\x8c");
}

TEST(SingleValue, DecimalsTakeAsFewBytesAsHoldThem) {
  const std::pair<int64_t, std::string> cases[] = {
      {0, "\0"s},       {-1, "\xff"},   {255, "\0\xff"s},   {-129, "\xff\x7f"},      {127, "\x7f"},
      {128, "\0\x80"s}, {-128, "\x80"}, {2100, "\x08\x34"}, {-32769, "\xff\x7f\xff"}};
  for (const auto& [number, bytes] : cases) ExpectSingle(Decimal(38, 2), Value(int128_t{number}), bytes);
  EXPECT_EQ(EncodeDecimal(-1, 5), "\xff\xff\xff\xff\xff");
  EXPECT_EQ(DecimalBytes(1), 1u);
  EXPECT_EQ(DecimalBytes(9), 4u);
  EXPECT_EQ(DecimalBytes(10), 5u);
  EXPECT_EQ(DecimalBytes(18), 8u);
  EXPECT_EQ(DecimalBytes(19), 9u);
  EXPECT_EQ(DecimalBytes(38), 16u);
}

TEST(SingleValue, BoundsFromBeforeAWideningAreRead) {
  EXPECT_EQ(*DecodeSingleValue(Type(TypeId::kLong), "\xfe\xff\xff\xff"), Value(int64_t{-2}));
  EXPECT_EQ(*DecodeSingleValue(Type(TypeId::kDouble), "\0\0\xc0\x3f"s), Value(1.5));
  EXPECT_EQ(*DecodeSingleValue(Type(TypeId::kTimestamp), "\1\0\0\0"s), Value(int64_t{86'400'000'000}));
  EXPECT_EQ(*DecodeSingleValue(Type(TypeId::kTimestampNs), "\xff\xff\xff\xff"),
            Value(int64_t{-86'400'000'000'000}));
}

TEST(SingleValue, WhatIsNoneIsRefused) {
  const auto message = [](const Type& type, std::string_view bytes) {
    const auto decoded = DecodeSingleValue(type, bytes);
    return decoded.ok() ? "decoded" : decoded.status().message();
  };
  EXPECT_EQ(message(Type(TypeId::kInt), "\1\0\0\0\0\0\0\0"s), "8 bytes are no int");
  EXPECT_EQ(message(Type(TypeId::kLong), "\1"), "1 bytes are no long");
  EXPECT_EQ(message(Type(TypeId::kTimestampTz), "\1\0\0\0"s), "4 bytes are no timestamptz");
  EXPECT_EQ(message(Decimal(9, 2), ""), "0 bytes are no decimal(9, 2)");
  EXPECT_EQ(message(Decimal(9, 2), std::string(17, '\0')), "17 bytes are no decimal(9, 2)");
  EXPECT_EQ(message(Type(TypeId::kFloat), "\1\0\0\0\0\0\0\0"s), "8 bytes are no float");
  EXPECT_EQ(message(Type(TypeId::kUuid), "x"), "1 bytes are no uuid");
  EXPECT_EQ(message(Type(TypeId::kTimestampNs), "\xff\xff\xff\x7f"),
            "day 2147483647 is beyond what timestamp_ns can hold");
}

}  // namespace
}  // namespace caudal::iceberg
