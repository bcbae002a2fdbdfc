#include "iceberg/metadata/table_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "iceberg/testing/fixtures.h"

namespace caudal::iceberg {
namespace {

using testing::HasSubstr;

// Without the members that are null or an empty list, which mean the same as none.
nlohmann::json Significant(const nlohmann::json& json) {
  if (json.is_array()) {
    auto list = nlohmann::json::array();
    for (const auto& item : json) list.push_back(Significant(item));
    return list;
  }
  if (!json.is_object()) return json;
  auto object = nlohmann::json::object();
  for (const auto& [name, value] : json.items()) {
    if (!value.is_null() && !(value.is_array() && value.empty())) object[name] = Significant(value);
  }
  return object;
}

std::string Changed(const std::string& member, const nlohmann::json& value) {
  auto json = nlohmann::json::parse(Contents(kFixtures / "v3_minimal.metadata.json"));
  if (value.is_discarded()) {
    json.erase(member);
  } else {
    json[member] = value;
  }
  return json.dump();
}

std::string Message(const std::string& text) {
  const auto table = ParseTableMetadata(text);
  return table.ok() ? "read" : table.status().ToString();
}

TEST(TableMetadata, OthersTablesComeBackWithNothingLost) {
  int tables = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFixtures)) {
    if (entry.path().string().find(".metadata.json") == std::string::npos) continue;
    const std::string text = Contents(entry.path());
    auto table = ParseTableMetadata(text);
    ASSERT_TRUE(table.ok()) << entry.path() << ": " << table.status().ToString();
    if (table->format_version == 1) continue;
    ++tables;
    const auto written = TableMetadataText(*table);
    ASSERT_TRUE(written.ok()) << written.status().ToString();
    auto wanted = Significant(nlohmann::json::parse(text));
    auto got = Significant(nlohmann::json::parse(*written));
    for (auto* json : {&wanted, &got}) {
      json->erase("current-snapshot-id");  // -1 and none are the same
      if (!json->contains("properties")) (*json)["properties"] = nlohmann::json::object();
      if (!json->contains("refs")) (*json)["refs"] = nlohmann::json::object();
    }
    EXPECT_EQ(got, wanted) << entry.path();
    EXPECT_EQ(*ParseTableMetadata(*written), *table) << entry.path();
  }
  EXPECT_GE(tables, 5);
}

TEST(TableMetadata, UnknownMembersStayAtEveryLevel) {
  auto json = nlohmann::json::parse(Contents(kFixtures / "v3_minimal.metadata.json"));
  json["new-thing"] = {{"a", 1}};
  json["schemas"][0]["new-schema-thing"] = "s";
  json["schemas"][0]["fields"][0]["new-field-thing"] = {1, 2};
  json["partition-specs"][0]["fields"][0]["new-spec-thing"] = true;
  json["snapshots"][0]["new-snapshot-thing"] = 1.5;
  json["refs"]["main"]["new-ref-thing"] = "r";
  const auto table = ParseTableMetadata(json.dump());
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  const auto written = nlohmann::json::parse(TableMetadataText(*table).value());
  EXPECT_EQ(written["new-thing"]["a"], 1);
  EXPECT_EQ(written["schemas"][0]["new-schema-thing"], "s");
  EXPECT_EQ(written["schemas"][0]["fields"][0]["new-field-thing"], nlohmann::json({1, 2}));
  EXPECT_EQ(written["partition-specs"][0]["fields"][0]["new-spec-thing"], true);
  EXPECT_EQ(written["snapshots"][0]["new-snapshot-thing"], 1.5);
  EXPECT_EQ(written["refs"]["main"]["new-ref-thing"], "r");
}

TEST(TableMetadata, WhatIsMissingOrWrongIsNamed) {
  const auto discarded = nlohmann::json(nlohmann::json::value_t::discarded);
  EXPECT_EQ(Message("{}"), "error[data]: format-version is missing");
  EXPECT_EQ(Message("[1]"), "error[data]: the metadata is no JSON object");
  for (const char* member :
       {"table-uuid", "location", "last-sequence-number", "last-updated-ms", "last-column-id", "schemas",
        "current-schema-id", "partition-specs", "default-spec-id", "last-partition-id", "sort-orders",
        "default-sort-order-id", "next-row-id"}) {
    EXPECT_EQ(Message(Changed(member, discarded)), std::string("error[data]: ") + member + " is missing");
  }
  EXPECT_EQ(Message(Changed("last-column-id", "7")), "error[data]: last-column-id is no integer of 64 bits");
  EXPECT_EQ(Message(Changed("last-column-id", 1LL << 40)),
            "error[data]: last-column-id is no integer of 32 bits");
  EXPECT_EQ(Message(Changed("location", 7)), "error[data]: location is no string");
  EXPECT_EQ(Message(Changed("properties", {{"a", 1}})), "error[data]: properties.a is no string");
  EXPECT_EQ(Message(Changed("schemas", {7})), "error[data]: schemas[0] is no JSON object");
}

TEST(TableMetadata, NewerFormatsAreRefusedPolitely) {
  EXPECT_EQ(Message(Changed("format-version", 4)),
            "error[data]: the table is of format version 4\n  hint: versions 1 to 3 are read");
}

TEST(TableMetadata, DanglingNumbersAreRefused) {
  EXPECT_EQ(Message(Changed("current-schema-id", 9)),
            "error[data]: current-schema-id 9 is not among those listed");
  EXPECT_EQ(Message(Changed("default-spec-id", 9)),
            "error[data]: default-spec-id 9 is not among those listed");
  EXPECT_EQ(Message(Changed("default-sort-order-id", 9)),
            "error[data]: default-sort-order-id 9 is not among those listed");
  EXPECT_EQ(Message(Changed("current-snapshot-id", 9)),
            "error[data]: current-snapshot-id 9 is not among those listed");
  auto json = nlohmann::json::parse(Contents(kFixtures / "v3_minimal.metadata.json"));
  json["refs"]["old"] = {{"snapshot-id", 8}, {"type", "tag"}};
  EXPECT_EQ(Message(json.dump()), "error[data]: the snapshot of ref 'old', 8 is not among those listed");
  json["refs"]["old"] = {{"snapshot-id", 8}, {"type", "label"}};
  EXPECT_THAT(Message(json.dump()), HasSubstr("refs.old is of the type 'label', neither branch nor tag"));
  json["refs"].erase("old");
  json["schemas"][0]["fields"][1]["id"] = json["schemas"][0]["fields"][0]["id"];
  EXPECT_EQ(Message(json.dump()), "error[data]: field id 1 ('y') occurs twice in one schema");
}

TEST(TableMetadata, FormatOneIsReadAndNotWritten) {
  const auto table = ParseTableMetadata(Contents(kFixtures / "v1_plain.metadata.json"));
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  EXPECT_EQ(table->format_version, 1);
  EXPECT_EQ(table->last_sequence_number, 0);
  EXPECT_NE(table->FindSnapshot(*table->current_snapshot_id), nullptr);
  EXPECT_THAT(TableMetadataText(*table).status().ToString(),
              HasSubstr("error[user]: tables of format version 1"));
}

TEST(TableMetadata, TypesAreWrittenAsTheyAreRead) {
  for (const char* text : {"boolean",
                           "int",
                           "long",
                           "float",
                           "double",
                           "decimal(38, 10)",
                           "date",
                           "time",
                           "timestamp",
                           "timestamptz",
                           "timestamp_ns",
                           "timestamptz_ns",
                           "string",
                           "uuid",
                           "fixed[16]",
                           "binary",
                           "unknown",
                           "variant",
                           "geometry",
                           "geometry(OGC:CRS84)",
                           "geography(OGC:CRS84, vincenty)"}) {
    const auto type = ParsePrimitive(text);
    ASSERT_TRUE(type.ok()) << text;
    EXPECT_EQ(TypeText(*type), text);
  }
  EXPECT_EQ(ParsePrimitive("decimal(9,2)")->scale, 2);
  for (const char* text : {"", "struct", "decimal", "decimal(39,2)", "decimal(2,3)", "decimal(a,b)",
                           "fixed[-1]", "fixed", "geometrical", "int32"}) {
    EXPECT_EQ(ParsePrimitive(text).status().message(), "the type '" + std::string(text) + "' is not known");
  }
}

TEST(TableMetadata, FieldsAreFoundByIdAndByPath) {
  const auto schema = ParseSchema(
      R"({"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":{"type":"struct","fields":[
            {"id":2,"name":"b.c","required":false,"type":"int"},{"id":3,"name":"b","required":false,"type":"long"}]}},
          {"id":4,"name":"m","required":false,"type":{"type":"map","key-id":5,"key":"string","value-id":6,"value":"int","value-required":true}}]})");
  ASSERT_TRUE(schema.ok()) << schema.status().ToString();
  EXPECT_EQ(schema->FindField("a.b.c")->id, 2);
  EXPECT_EQ(schema->FindField("a.b")->id, 3);
  EXPECT_EQ(schema->FindField("m.value")->id, 6);
  EXPECT_EQ(schema->FindField("a.x"), nullptr);
  EXPECT_EQ(schema->FindField(5)->name, "key");
  EXPECT_EQ(schema->FindField(9), nullptr);
  EXPECT_EQ(schema->HighestId(), 6);
}

}  // namespace
}  // namespace caudal::iceberg
