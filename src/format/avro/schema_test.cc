#include "format/avro/schema.h"

#include <gtest/gtest.h>

namespace caudal::avro {
namespace {

std::string Message(std::string_view json) {
  const auto schema = Schema::Parse(json);
  return schema.ok() ? "a schema" : schema.status().message();
}

// What is written comes back, attributes included.
void ExpectKept(const std::string& json) {
  const auto schema = Schema::Parse(json);
  ASSERT_TRUE(schema.ok()) << schema.status().ToString();
  EXPECT_EQ(schema->ToJson(), json);
}

TEST(AvroSchema, KeepsEveryAttribute) {
  ExpectKept(
      R"({"type":"record","name":"manifest_entry","fields":[)"
      R"({"name":"status","type":"int","field-id":0},)"
      R"({"name":"when","type":["null",{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":true}],)"
      R"("default":null,"field-id":1},)"
      R"({"name":"split_offsets","type":{"type":"array","items":"long","element-id":133},"doc":"where","field-id":132},)"
      R"({"name":"key","type":{"type":"fixed","name":"uuid_fixed","size":16,"logicalType":"uuid"},"field-id":7},)"
      R"({"name":"key2","type":"uuid_fixed","field-id":8},)"
      R"({"name":"kind","type":{"type":"enum","name":"k","symbols":["A","B"],"default":"A","own":{"x":[1]}}},)"
      R"({"name":"tags","type":{"type":"map","values":"string","value-id":3},"aliases":["labels"],"order":"ignore"}]})");
}

TEST(AvroSchema, AttributesAreRead) {
  const auto schema = Schema::Parse(
      R"({"type":"record","name":"r","fields":[{"name":"a","type":"int","field-id":17,"x":"17","y":1.5}]})");
  ASSERT_TRUE(schema.ok());
  const auto& attributes = schema->node(schema->root()).fields[0].attributes;
  EXPECT_EQ(IntegerAttribute(attributes, "field-id"), 17);
  EXPECT_EQ(IntegerAttribute(attributes, "x"), std::nullopt);
  EXPECT_EQ(IntegerAttribute(attributes, "y"), std::nullopt);
  EXPECT_EQ(*FindAttribute(attributes, "x"), "\"17\"");
}

TEST(AvroSchema, APrimitiveIsABareStringHoweverItWasWritten) {
  const auto schema = Schema::Parse(R"({"type": {"type": "int"}})");
  ASSERT_TRUE(schema.ok()) << schema.status().ToString();
  EXPECT_EQ(schema->ToJson(), "\"int\"");
}

TEST(AvroSchema, NamesAreFoundInTheirNamespace) {
  const auto schema = Schema::Parse(
      R"({"type":"record","name":"a.b.Outer","fields":[)"
      R"({"name":"x","type":{"type":"fixed","name":"F","size":1}},{"name":"y","type":"F"},{"name":"z","type":"a.b.F"},)"
      R"({"name":"w","type":{"type":"record","name":"In","namespace":"c","fields":[{"name":"v","type":"a.b.F"}]}}]})");
  ASSERT_TRUE(schema.ok()) << schema.status().ToString();
  const Node& outer = schema->node(schema->root());
  EXPECT_EQ(schema->node(outer.fields[0].type).name, "a.b.F");
  EXPECT_EQ(outer.fields[0].type, outer.fields[1].type);
  EXPECT_EQ(outer.fields[0].type, outer.fields[2].type);
  EXPECT_EQ(schema->node(outer.fields[3].type).name, "c.In");
}

TEST(AvroSchema, WhatIsNoneIsNamed) {
  EXPECT_EQ(Message("{"), "no JSON: it breaks at byte 2 of 1");
  EXPECT_EQ(Message("1"), "no Avro schema: schema: a type is a string, an array or an object");
  EXPECT_EQ(Message(R"("integer")"),
            "no Avro schema: schema: no type 'integer' is defined before this place");
  EXPECT_EQ(Message(R"({"name":"x"})"), "no Avro schema: schema: 'type' is missing");
  EXPECT_EQ(Message(R"({"type":"array"})"), "no Avro schema: schema: 'items' is missing");
  EXPECT_EQ(Message(R"(["int","int"])"), "no Avro schema: schema[1]: a second branch 'int'");
  EXPECT_EQ(Message(R"(["int",["null"]])"),
            "no Avro schema: schema[1]: a union stands directly inside a union");
  EXPECT_EQ(Message("[]"), "no Avro schema: schema: a union without branches");
  EXPECT_EQ(Message(R"({"type":"fixed","name":"f","size":-1})"),
            "no Avro schema: schema: 'size' of a fixed is no integer from 0 to 2147483647");
  EXPECT_EQ(
      Message(
          R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]})"),
      "no Avro schema: schema.a: a second field of this name");
  EXPECT_EQ(Message(R"([{"type":"fixed","name":"f","size":1},{"type":"fixed","name":"f","size":1}])"),
            "no Avro schema: schema[1]: 'f' is defined twice");
  EXPECT_EQ(Message(R"({"type":"record","name":"r","fields":[{"name":"a","type":"r"}]})"),
            "no Avro schema: record r: it contains itself without end");
  EXPECT_EQ(Message(R"({"type":"enum","name":"e","symbols":["A","A"]})"),
            "no Avro schema: schema: an enum with one symbol twice");
}

}  // namespace
}  // namespace caudal::avro
