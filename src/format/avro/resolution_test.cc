#include "format/avro/resolution.h"

#include <gtest/gtest.h>

namespace caudal::avro {
namespace {

using std::string_literals::operator""s;

struct Pair {
  Schema writer;
  Schema reader;
};

Pair Schemas(std::string_view writer, std::string_view reader) {
  return {Schema::Parse(writer).value(), Schema::Parse(reader).value()};
}

Value Resolved(std::string_view writer, std::string_view reader, Value value) {
  const Pair schemas = Schemas(writer, reader);
  auto resolved = Resolution(&schemas.writer, &schemas.reader).Resolve(std::move(value));
  EXPECT_TRUE(resolved.ok()) << resolved.status().ToString();
  return resolved.ok() ? std::move(resolved).value() : Value();
}

std::string Message(std::string_view writer, std::string_view reader, Value value) {
  const Pair schemas = Schemas(writer, reader);
  const auto resolved = Resolution(&schemas.writer, &schemas.reader).Resolve(std::move(value));
  return resolved.ok() ? "resolved" : resolved.status().message();
}

TEST(AvroResolution, NumbersAreWidened) {
  EXPECT_EQ(Resolved(R"("int")", R"("long")", Value(7)), Value(int64_t{7}));
  EXPECT_EQ(Resolved(R"("int")", R"("float")", Value(7)), Value(7.0f));
  EXPECT_EQ(Resolved(R"("long")", R"("double")", Value(int64_t{7})), Value(7.0));
  EXPECT_EQ(Resolved(R"("float")", R"("double")", Value(0.5f)), Value(0.5));
  EXPECT_EQ(Resolved(R"("string")", R"("bytes")", Value("a"s)), Value("a"s));
  EXPECT_EQ(Message(R"("long")", R"("int")", Value(int64_t{7})), "long was written, int is wanted");
}

TEST(AvroResolution, FieldsGoByNameThenAliasThenDefault) {
  const char* writer =
      R"({"type":"record","name":"x.r","fields":[{"name":"gone","type":"int"},{"name":"old","type":"int"},{"name":"b","type":"int"}]})";
  const char* reader =
      R"({"type":"record","name":"y.r","fields":[{"name":"b","type":"long"},{"name":"a","type":"int","aliases":["old"]},
          {"name":"c","type":["null","string"],"default":null},{"name":"d","type":"bytes","default":"\u00ff\u0001"},
          {"name":"e","type":{"type":"map","values":"int"},"default":{"k":3}}]})";
  EXPECT_EQ(Resolved(writer, reader, Value(ValueList{Value(1), Value(2), Value(3)})),
            Value(ValueList{Value(int64_t{3}), Value(2), Branch(0, Value()), Value("\xff\x01"s),
                            Value(MapEntries{{"k", Value(3)}})}));
  const char* wants = R"({"type":"record","name":"r","fields":[{"name":"z","type":"int"}]})";
  EXPECT_EQ(Message(writer, wants, Value(ValueList{Value(1), Value(2), Value(3)})),
            "field 'z': it was not written, and has no default");
}

TEST(AvroResolution, UnionsTakeTheSameTypeBeforeAPromotion) {
  EXPECT_EQ(Resolved(R"("int")", R"(["null","long","int"])", Value(1)), Branch(2, Value(1)));
  EXPECT_EQ(Resolved(R"("int")", R"(["null","double","long"])", Value(1)), Branch(1, Value(1.0)));
  EXPECT_EQ(Resolved(R"(["int","string"])", R"("string")", Branch(1, Value("s"s))), Value("s"s));
  EXPECT_EQ(Message(R"(["int","string"])", R"("string")", Branch(0, Value(1))),
            "int was written, string is wanted");
  const char* records = R"([{"type":"record","name":"a.R","fields":[{"name":"x","type":"int"}]},
                            {"type":"record","name":"b.R","fields":[{"name":"y","type":"string"}]}])";
  EXPECT_EQ(Resolved(records, records, Branch(1, Value(ValueList{Value("s"s)}))),
            Branch(1, Value(ValueList{Value("s"s)})));
}

TEST(AvroResolution, SymbolsGoByNameThenTheDefault) {
  const char* writer = R"({"type":"enum","name":"e","symbols":["A","B","C"]})";
  EXPECT_EQ(Resolved(writer, R"({"type":"enum","name":"e","symbols":["C","B"]})", Value(1)), Value(1));
  EXPECT_EQ(Resolved(writer, R"({"type":"enum","name":"e","symbols":["C","B"],"default":"B"})", Value(0)),
            Value(1));
  EXPECT_EQ(Message(writer, R"({"type":"enum","name":"e","symbols":["C"]})", Value(0)),
            "the symbol 'A' is not among those of the wanted enum 'e'");
}

TEST(AvroResolution, AMisfitIsNamedWithItsPath) {
  const char* writer =
      R"({"type":"record","name":"r","fields":[{"name":"l","type":{"type":"array","items":{"type":"map","values":"int"}}}]})";
  const char* reader =
      R"({"type":"record","name":"r","fields":[{"name":"l","type":{"type":"array","items":{"type":"map","values":"string"}}}]})";
  EXPECT_EQ(Message(writer, reader, Value(ValueList{Value(ValueList{Value(MapEntries{{"k", Value(1)}})})})),
            "field 'l[0]['k']': int was written, string is wanted");
}

TEST(AvroResolution, ADefaultWithoutEndIsRefused) {
  const char* writer = R"({"type":"record","name":"r","fields":[]})";
  const char* reader =
      R"({"type":"record","name":"r","fields":[{"name":"a","type":["r","null"],"default":{}},{"name":"b","type":["r","null"],"default":{}}]})";
  EXPECT_EQ(Message(writer, reader, Value(ValueList())),
            "field 'a': its default {} is no value of type union");
  EXPECT_EQ(
      Message(writer,
              R"({"type":"record","name":"r","fields":[{"name":"a","type":"int","default":9999999999}]})",
              Value(ValueList())),
      "field 'a': its default 9999999999 is no value of type int");
}

}  // namespace
}  // namespace caudal::avro
