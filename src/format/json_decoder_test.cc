#include "format/json_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/value.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Records with what a reader guarantees: padding behind them. `separator` stands between them.
class Records {
 public:
  explicit Records(const std::vector<std::string>& records, std::string_view separator = "\n") {
    std::string all;
    std::vector<size_t> begins;
    for (const std::string& record : records) {
      begins.push_back(all.size());
      all.append(record).append(separator);
    }
    bytes_ = Buffer::Allocate(all.size());
    std::memcpy(bytes_->mutable_data(), all.data(), all.size());
    for (size_t i = 0; i < records.size(); ++i) {
      batch.records.push_back({{bytes_->data() + begins[i], records[i].size()}});
    }
    batch.pins = {bytes_};
  }
  RawBatch batch;

 private:
  MutableBufferPtr bytes_;
};

Schema Columns(std::vector<Field> fields) {
  Schema schema;
  schema.fields = std::move(fields);
  return schema;
}

struct Decoded {
  DecodedRows rows;
  // Column `column` of the rows that decoded.
  std::vector<Value> Column(int column) const {
    std::vector<Value> values;
    const int32_t count = rows.selection ? static_cast<int32_t>(rows.selection->rows.size()) : rows.row_count;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t row = rows.selection ? rows.selection->rows[static_cast<size_t>(i)] : i;
      values.push_back(ValueAt(*rows.columns[static_cast<size_t>(column)], row));
    }
    return values;
  }
  std::vector<std::string> Errors() const {
    std::vector<std::string> messages;
    for (const DecodeError& error : rows.errors) {
      messages.push_back(std::to_string(error.record) + ": " + error.message);
    }
    return messages;
  }
};

Decoded Decode(const Schema& schema, const std::vector<std::string>& records, JsonOptions options = {},
               std::string_view separator = "\n") {
  auto decoder = JsonDecoder::Make(schema, std::move(options));
  EXPECT_TRUE(decoder.ok());
  const Records input(records, separator);
  Decoded decoded;
  EXPECT_TRUE((*decoder)->Decode(input.batch, &decoded.rows).ok());
  return decoded;
}

Value Int(int64_t v) { return Value(v); }
Value Text(std::string v) { return Value(std::move(v)); }

TEST(JsonDecoderTest, NamesInAnyOrderAndMissingFieldsAreNull) {
  const Schema schema = Columns({{"a", Type(TypeId::kInt)}, {"b", Type::String()}});
  const Decoded decoded =
      Decode(schema, {R"({"a":1,"b":"x"})", R"( { "b" : "y" , "a" : 2 } )", R"({"b":"z"})",
                      R"({"other":[1,{"a":9}],"a":4})", "{}", R"({"a":null,"b":null})"});
  EXPECT_THAT(decoded.Errors(), ElementsAre());
  EXPECT_THAT(decoded.Column(0), ElementsAre(Int(1), Int(2), Value(), Int(4), Value(), Value()));
  EXPECT_THAT(decoded.Column(1), ElementsAre(Text("x"), Text("y"), Text("z"), Value(), Value(), Value()));
}

// KF-20: a key twice in one object.
TEST(JsonDecoderTest, TheLastOfTwoEqualNamesCounts) {
  const Schema schema = Columns(
      {{"a", Type(TypeId::kInt)}, {"b", Type::Row({{"c", Type(TypeId::kInt)}})}, {"s", Type::String()}});
  const std::vector<std::string> records = {R"({"a":1,"a":2,"b":{"c":1,"c":null},"s":"x","s":"y"})",
                                            R"({"a":1,"a":null,"s":null,"s":"z"})"};
  const Decoded decoded = Decode(schema, records);
  EXPECT_THAT(decoded.Column(0), ElementsAre(Int(2), Value()));
  EXPECT_THAT(decoded.Column(1), ElementsAre(Value(ValueList{Value()}), Value()));
  EXPECT_THAT(decoded.Column(2), ElementsAre(Text("y"), Text("z")));
  // A projection sees the same.
  EXPECT_THAT(Decode(Columns({{"a", Type(TypeId::kInt)}}), records).Column(0), ElementsAre(Int(2), Value()));
}

// KF-16: numbers as text, floats for integers.
TEST(JsonDecoderTest, IntegersMayStandInQuotesButMustFit) {
  const Schema schema = Columns({{"a", Type(TypeId::kInt)}});
  const Decoded decoded =
      Decode(schema, {R"({"a":"0181448105"})", R"({"a":1.0})", R"({"a":1e3})", R"({"a":" 7 "})",
                      R"({"a":-0})", R"({"a":1.9})", R"({"a":"12x"})", R"({"a":2147483648})", R"({"a":true})",
                      R"({"a":01})", R"({"a":[1]})", R"({"a":99999999999999999999})"});
  EXPECT_THAT(decoded.Column(0), ElementsAre(Int(181448105), Int(1), Int(1000), Int(7), Int(0)));
  EXPECT_THAT(decoded.Errors(),
              ElementsAre("5: column 'a': '1.9' is not a INT", "6: column 'a': '12x' is not a INT",
                          "7: column 'a': '2147483648' is not a INT", "8: column 'a': 'true' is not a INT",
                          "9: the record is not JSON: a value should stand at byte 5",
                          "10: column 'a': '[1]' is not a INT",
                          "11: column 'a': '99999999999999999999' is not a INT"));
}

// KF-15: big integers.
TEST(JsonDecoderTest, BigNumbersLoseNothing) {
  const std::string record = R"({"some": 327267367867168100000, "id": 9007199254740993})";
  EXPECT_THAT(Decode(Columns({{"id", Type(TypeId::kBigInt)}}), {record}).Column(0),
              ElementsAre(Int(9007199254740993)));
  EXPECT_THAT(Decode(Columns({{"some", Type::String()}}), {record}).Column(0),
              ElementsAre(Text("327267367867168100000")));
  const int128_t wide = static_cast<int128_t>(3272673678671681) * 100000;
  EXPECT_THAT(Decode(Columns({{"some", Type::Decimal(30, 0)}}), {record}).Column(0),
              ElementsAre(Value(wide)));
  EXPECT_THAT(Decode(Columns({{"some", Type(TypeId::kBigInt)}}), {record}).Errors(),
              ElementsAre("0: column 'some': '327267367867168100000' is not a BIGINT"));
}

TEST(JsonDecoderTest, FractionsAndExponentsOfIntegersAreExact) {
  const Schema schema = Columns({{"n", Type(TypeId::kBigInt)}});
  const Decoded decoded = Decode(
      schema, {R"({"n":9007199254740993.0})", R"({"n":1e16})", R"({"n":9223372036854775807.0})",
               R"({"n":-9223372036854775808.000})", R"({"n":922337203685477580.7E1})", R"({"n":12300e-2})",
               R"({"n":-0.0})", R"({"n":0e999999999999999999999})", R"({"n":0.0000e-99999999999999999999})"});
  EXPECT_THAT(decoded.Errors(), ElementsAre());
  EXPECT_THAT(decoded.Column(0),
              ElementsAre(Int(9007199254740993), Int(10'000'000'000'000'000), Int(INT64_MAX), Int(INT64_MIN),
                          Int(INT64_MAX), Int(123), Int(0), Int(0), Int(0)));

  const Decoded wrong =
      Decode(schema, {R"({"n":9223372036854775808.0})", R"({"n":-9223372036854775809.0})", R"({"n":1e19})",
                      R"({"n":9007199254740993.5})", R"({"n":1e-1})", R"({"n":1e-99999999999999999999})",
                      R"({"n":1e99999999999999999999})", R"({"n":12345e-2})",
                      R"({"n":0.00000000000000000000000000000000000000000000000001})"});
  EXPECT_EQ(wrong.rows.errors.size(), 9U);
}

TEST(JsonDecoderTest, ExponentsOfDecimalsMayBeAsLargeAsTheyLike) {
  for (const Type& type : {Type::Decimal(5, 2), Type::Decimal(38, 2)}) {
    const Schema schema = Columns({{"d", type}});
    const Decoded decoded =
        Decode(schema, {R"({"d":0e5})", R"({"d":1e-1000000000})", R"({"d":-1e-99999999999999999999})",
                        R"({"d":0e99999999999999999999})", R"({"d":12.345e0})", R"({"d":-12345e-3})",
                        R"({"d":0.000000000000000000000000000000000000000000123e44})", R"({"d":"0e5"})",
                        R"({"d":"+.5e1"})", R"({"d":1e1000000000})", R"({"d":1e40})"});
    EXPECT_THAT(decoded.Errors(), ElementsAre());
    const bool wide = type.precision() > 18;
    const auto decimal = [wide](int64_t v) { return wide ? Value(int128_t{v}) : Value(v); };
    EXPECT_THAT(decoded.Column(0),
                ElementsAre(decimal(0), decimal(0), decimal(0), decimal(0), decimal(1235), decimal(-1235),
                            decimal(1230), decimal(0), decimal(500), Value(), Value()));
  }
}

TEST(JsonDecoderTest, DecimalsAreExactAndRoundHalfUp) {
  const Schema schema = Columns({{"d", Type::Decimal(18, 2)}});
  const Decoded decoded =
      Decode(schema, {R"({"d":0.1})", R"({"d":12.345})", R"({"d":-12.345})", R"({"d":"7.005"})",
                      R"({"d":1e2})", R"({"d":9999999999999999.99})", R"({"d":10000000000000000})",
                      R"({"d":"x"})", R"({"d":-0.004})", R"({"d":123456789012345678901234567890})"});
  EXPECT_THAT(decoded.Column(0), ElementsAre(Int(10), Int(1235), Int(-1235), Int(701), Int(10000),
                                             Int(999999999999999999), Value(), Int(0), Value()));
  EXPECT_THAT(decoded.Errors(), ElementsAre("7: column 'd': 'x' is not a DECIMAL(18, 2)"));
}

TEST(JsonDecoderTest, TextIsWhateverScalarStandsThere) {
  const Schema schema = Columns({{"s", Type::String()}});
  const Decoded decoded = Decode(
      schema, {R"({"s":"plain"})", R"({"s":"a\"b\\c\n\u00e9\ud83d\ude00"})", R"({"s":1.50})", R"({"s":true})",
               R"({"s":{ "x" : [1, "a b"] }})", R"({"s":""})", R"({"\u0073":"escaped name"})",
               R"({"s":"\ud83d"})", R"({"s":"longer than twelve bytes"})"});
  EXPECT_THAT(decoded.Column(0), ElementsAre(Text("plain"), Text("a\"b\\c\n\xC3\xA9\xF0\x9F\x98\x80"),
                                             Text("1.50"), Text("true"), Text(R"({"x":[1,"a b"]})"), Text(""),
                                             Text("escaped name"), Text("longer than twelve bytes")));
  EXPECT_EQ(decoded.rows.errors.size(), 1u);
  EXPECT_EQ(decoded.rows.errors[0].record, 7);
}

// KF-17: ISO-8601 with a zone or seven digits.
TEST(JsonDecoderTest, TimesByTheStandardThatIsSet) {
  const Schema schema =
      Columns({{"t", Type::Timestamp(3)}, {"z", Type::TimestampLtz(3)}, {"d", Type(TypeId::kDate)}});
  const Decoded sql =
      Decode(schema, {R"({"t":"2026-03-01 12:34:56.789","z":"2026-03-01 12:34:56.789Z","d":"2026-03-01"})",
                      R"({"t":"2026-03-01 12:34:56"})", R"({"t":"2026-03-01 12:34:56.1234567"})",
                      R"({"t":"2026-03-01T12:34:56"})", R"({"t":"12:61"})", R"({"d":"2026-3-1"})",
                      R"({"t":"2026-13-01 00:00:00"})"});
  const int64_t base = 1772368496;
  EXPECT_THAT(sql.Column(0), ElementsAre(Int(base * 1'000'000 + 789'000), Int(base * 1'000'000),
                                         Int(base * 1'000'000 + 123'000)));
  EXPECT_THAT(sql.Column(1), ElementsAre(Int(base * 1'000'000 + 789'000), Value(), Value()));
  EXPECT_THAT(sql.Column(2), ElementsAre(Int(20513), Value(), Value()));
  EXPECT_THAT(sql.Errors(), ElementsAre("3: column 't': '2026-03-01T12:34:56' is not a TIMESTAMP(3)",
                                        "4: column 't': '12:61' is not a TIMESTAMP(3)",
                                        "5: column 'd': '2026-3-1' is not a DATE",
                                        "6: column 't': '2026-13-01 00:00:00' is not a TIMESTAMP(3)"));
  EXPECT_EQ(sql.rows.errors[0].hint, "set 'json.timestamp-format.standard' = 'ISO-8601'");
  EXPECT_EQ(sql.rows.errors[1].hint, "");
  const Decoded other = Decode(schema, {R"({"t":"2026-03-01T12:34:56Z"})", R"({"t":"2026-03-01 12:34:56Z"})",
                                        R"({"z":"2026-03-01T12:34:56.789Z"})"});
  std::vector<std::string> hints;
  for (const DecodeError& error : other.rows.errors) hints.push_back(error.hint);
  EXPECT_THAT(hints,
              ElementsAre("declare the column TIMESTAMP_LTZ(3) and set 'json.timestamp-format.standard' = "
                          "'ISO-8601'",
                          "declare the column TIMESTAMP_LTZ(3)",
                          "set 'json.timestamp-format.standard' = 'ISO-8601'"));
  JsonOptions options;
  options.timestamp_form = TimestampForm::kIso8601;
  const Decoded iso =
      Decode(schema,
             {R"({"t":"2026-03-01T12:34:56","z":"2026-03-01T12:34:56Z"})",
              R"({"z":"2026-03-01T14:34:56+02:00"})", R"({"z":"2022-02-09T13:27:27.3850848Z"})"},
             options);
  EXPECT_THAT(iso.Column(1),
              ElementsAre(Int(base * 1'000'000), Int(base * 1'000'000), Int(1644413247385'000)));
  EXPECT_THAT(iso.Column(0), ElementsAre(Int(base * 1'000'000), Value(), Value()));
}

TEST(JsonDecoderTest, NanosecondsEndInTheYear2262) {
  const Decoded decoded =
      Decode(Columns({{"t", Type::Timestamp(9)}}),
             {R"({"t": "2262-04-11 23:47:16.854775807"})", R"({"t": "2262-04-11 23:47:16.854775808"})",
              R"({"t": "2602-11-27 01:35:30"})", R"({"t": "1677-09-21 00:12:44"})",
              R"({"t": "1677-09-21 00:12:43"})"});
  EXPECT_THAT(decoded.Column(0), ElementsAre(Int(INT64_MAX), Int(-9'223'372'036'000'000'000)));
  ASSERT_EQ(decoded.rows.errors.size(), 3u);
  EXPECT_THAT(decoded.Errors()[1], HasSubstr("'2602-11-27 01:35:30'"));
}

TEST(JsonDecoderTest, OtherScalars) {
  const Schema schema = Columns({{"b", Type(TypeId::kBoolean)},
                                 {"f", Type(TypeId::kDouble)},
                                 {"x", Type::Bytes()},
                                 {"y", Type(TypeId::kTinyInt)}});
  const Decoded decoded =
      Decode(schema, {R"({"b":true,"f":1.5e3,"x":"aGVsbG8=","y":-128})",
                      R"({"b":"TRUE","f":"0.1","x":"","y":"127"})", R"({"b":"no","f":-0.0,"x":"aGk="})",
                      R"({"y":128})", R"({"f":NaN})", R"({"b":false,"f":123456789.123})"});
  EXPECT_THAT(decoded.Column(0), ElementsAre(Value(true), Value(true), Value(false), Value(false)));
  EXPECT_THAT(decoded.Column(1), ElementsAre(Value(1500.0), Value(0.1), Value(-0.0), Value(123456789.123)));
  EXPECT_THAT(decoded.Column(2), ElementsAre(Text("hello"), Text(""), Text("hi"), Value()));
  EXPECT_THAT(decoded.Column(3), ElementsAre(Int(-128), Int(127), Value(), Value()));
  EXPECT_THAT(decoded.Errors(), ElementsAre("3: column 'y': '128' is not a TINYINT",
                                            "4: the record is not JSON: a value should stand at byte 5"));
}

TEST(JsonDecoderTest, NestedTypes) {
  const Schema schema =
      Columns({{"r", Type::Row({{"a", Type(TypeId::kInt)}, {"b", Type::Array(Type::String())}})},
               {"m", Type::Map(Type::String(), Type(TypeId::kInt))}});
  const Decoded decoded = Decode(schema, {R"({"r":{"b":["x",null],"a":1,"q":{}},"m":{"k":1,"l":2}})",
                                          R"({"r":null,"m":{}})", R"({"r":7})"});
  EXPECT_THAT(decoded.Column(0),
              ElementsAre(Value(ValueList{Int(1), Value(ValueList{Text("x"), Value()})}), Value()));
  EXPECT_THAT(decoded.Column(1),
              ElementsAre(Value(ValueList{Text("k"), Int(1), Text("l"), Int(2)}), Value(ValueList{})));
  EXPECT_EQ(decoded.rows.errors.size(), 1u);
}

TEST(JsonDecoderTest, TooManyLevelsAndTooLongRecordsAreNamedAsSuch) {
  const Schema schema = Columns({{"a", Type(TypeId::kInt)}, {"t", Type::String()}});
  const auto nested = [](const std::string& name, size_t levels) {
    return "{\"" + name + "\":" + std::string(levels, '[') + std::string(levels, ']') + ",\"a\":1}";
  };
  for (const std::string name : {"t", "unknown"}) {
    EXPECT_TRUE(Decode(schema, {nested(name, 1000)}).rows.errors.empty());
    const Decoded decoded = Decode(schema, {nested(name, 1001), nested(name, 200'000)});
    ASSERT_EQ(decoded.rows.errors.size(), 2u);
    for (const DecodeError& error : decoded.rows.errors)
      EXPECT_EQ(error.message, "the record is nested too deep: a value has more than 1000 levels");
  }
  auto decoder = JsonDecoder::Make(schema, {});
  RawBatch batch;
  batch.records.push_back({"{\"a\":1}", {}, 0, 0, /*cut=*/true});
  DecodedRows rows;
  ASSERT_TRUE((*decoder)->Decode(batch, &rows).ok());
  EXPECT_EQ(rows.errors[0].message, "the record is longer than 64 MB, of which the start is kept");
}

// KF-19: invalid UTF-8. KF-21: bytes after the value.
TEST(JsonDecoderTest, WhatIsNotOneObjectIsAnErrorAndHurtsNoNeighbour) {
  const Schema schema = Columns({{"a", Type(TypeId::kInt)}});
  std::string deep(2000, '[');
  const std::vector<std::string> records = {R"({"a":1})",
                                            R"({"a":1)",
                                            R"({"a":2})",
                                            R"({"a":)",
                                            R"({"a":3})",
                                            R"({"a":"x)",
                                            R"({"a":4})",
                                            R"({"a":1}{"a":2})",
                                            R"({"a":1}])",
                                            R"({"a":1,})",
                                            "[{\"a\":1}]",
                                            "",
                                            "nonsense",
                                            "{\"x\":\"caf\xE9\"}",
                                            R"({"x":)" + deep + "}",
                                            R"({"x":[1}})",
                                            R"({"x":tru})",
                                            R"({"x":"\q","a":5})",
                                            "\xEF\xBB\xBF{\"a\":6}",
                                            "{\"a\":7,\"x\":\"\t\"}",
                                            R"({"a":8})"};
  for (std::string_view separator : {"\n", "\r\n", "#"}) {
    const Decoded decoded = Decode(schema, records, {}, separator);
    EXPECT_THAT(decoded.Column(0), ElementsAre(Int(1), Int(2), Int(3), Int(4), Int(5), Int(6), Int(8)))
        << separator;
    std::vector<int32_t> broken;
    for (const DecodeError& error : decoded.rows.errors) broken.push_back(error.record);
    EXPECT_THAT(broken, ElementsAre(1, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 19)) << separator;
    EXPECT_THAT(decoded.Errors()[0], HasSubstr("the record ends where ',' or '}' should stand"));
    EXPECT_THAT(decoded.Errors()[2], HasSubstr("a string has no end"));
    EXPECT_THAT(decoded.Errors()[3], HasSubstr("nothing more should stand at byte 7"));
    EXPECT_THAT(decoded.Errors()[9], HasSubstr("it is not UTF-8"));
  }
}

TEST(JsonDecoderTest, OptionsForMissingAndWrongFields) {
  const Schema schema = Columns({{"a", Type(TypeId::kInt)}, {"b", Type(TypeId::kInt)}});
  JsonOptions strict;
  strict.fail_on_missing_field = true;
  EXPECT_THAT(Decode(schema, {R"({"a":1})"}, strict).Errors(), ElementsAre("0: field 'b' is missing"));
  JsonOptions lenient;
  lenient.ignore_parse_errors = true;
  const Decoded decoded = Decode(schema, {R"({"a":"12x","b":1})", "{"}, lenient);
  EXPECT_THAT(decoded.Column(0), ElementsAre(Value()));
  EXPECT_THAT(decoded.Column(1), ElementsAre(Int(1)));
  EXPECT_EQ(decoded.rows.errors.size(), 1u);
}

TEST(JsonDecoderTest, ValuesThatBecomeNullAreCounted) {
  const Schema schema = Columns({{"a", Type(TypeId::kInt)}, {"b", Type(TypeId::kInt)}});
  JsonOptions lenient;
  lenient.ignore_parse_errors = true;
  EXPECT_EQ(Decode(schema, {R"({"a":1,"b":2})", R"({"a":null})"}, lenient).rows.ignored_values, 0);
  EXPECT_EQ(Decode(schema, {R"({"a":"12x","b":1})", R"({"a":5e9,"b":[]})"}, lenient).rows.ignored_values, 3);
  // Those of a record that is an error as a whole are not: it is counted as such.
  EXPECT_EQ(Decode(schema, {R"({"a":"12x","b":1)", R"({"a":"12x","b":1})"}, lenient).rows.ignored_values, 1);
}

TEST(JsonDecoderTest, RepeatingStringsAreCodedUniqueOnesAreNot) {
  auto decoder = JsonDecoder::Make(Columns({{"few", Type::String()}, {"many", Type::String()}}), {});
  for (int round = 0; round < 3; ++round) {
    std::vector<std::string> records;
    for (int i = 0; i < 2000; ++i) {
      records.push_back("{\"few\":\"value " + std::to_string(i % 7) + "\",\"many\":\"unique value " +
                        std::to_string(round * 10000 + i) + "\"}");
    }
    const Records input(records);
    Decoded decoded;
    ASSERT_TRUE((*decoder)->Decode(input.batch, &decoded.rows).ok());
    EXPECT_EQ(decoded.rows.columns[0]->encoding(), Encoding::kDictionary);
    EXPECT_EQ(decoded.rows.columns[1]->encoding(), round == 0 ? Encoding::kDictionary : Encoding::kFlat);
    for (int i = 0; i < 2000; ++i) {
      ASSERT_EQ(decoded.Column(0)[static_cast<size_t>(i)], Text("value " + std::to_string(i % 7)));
      ASSERT_EQ(decoded.Column(1)[static_cast<size_t>(i)],
                Text("unique value " + std::to_string(round * 10000 + i)));
      i += 97;
    }
  }
}

TEST(JsonDecoderTest, ARecordThatRepeatsANameBeyondTheDictionaryIsReadAllTheSame) {
  std::string record = R"({"s":"first")";
  for (int i = 0; i < 70'000; ++i) record += ",\"s\":\"v" + std::to_string(i) + "\"";
  record += "}";
  const Decoded decoded =
      Decode(Columns({{"s", Type::String()}}), {R"({"s":"before"})", record, R"({"s":"after"})"});
  EXPECT_THAT(decoded.Column(0), ElementsAre(Text("before"), Text("v69999"), Text("after")));
}

TEST(JsonDecoderTest, OptionsHaveFlinksNames) {
  std::map<std::string, std::string, std::less<>> options = {{"json.timestamp-format.standard", "ISO-8601"},
                                                             {"json.map-null-key.mode", "LITERAL"},
                                                             {"json.map-null-key.literal", "nil"},
                                                             {"format", "json"}};
  const auto json = JsonOptions::From(options);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->timestamp_form, TimestampForm::kIso8601);
  EXPECT_EQ(json->null_key_literal, "nil");
  options["json.timestamp-format.standard"] = "RFC";
  EXPECT_EQ(JsonOptions::From(options).status().message(),
            "option 'json.timestamp-format.standard': 'RFC' is not 'SQL' or 'ISO-8601'");
  options = {{"json.ignore-parse-errors", "true"}, {"json.fail-on-missing-field", "true"}};
  EXPECT_FALSE(JsonOptions::From(options).ok());
  options = {{"json.unknown", "1"}};
  EXPECT_FALSE(JsonOptions::From(options).ok());
}

}  // namespace
}  // namespace caudal
