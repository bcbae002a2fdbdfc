#include "iceberg/rest/rest_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caudal::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RestAnswer Answer(int code, std::string body) {
  HttpAnswer http;
  http.code = code;
  http.body = std::move(body);
  return ReadAnswer(std::move(http), "GET http://lake/v1/config");
}

TEST(RestAnswerTest, WhatIsMissingOrOfAnotherTypeIsNoFault) {
  EXPECT_EQ(TextOf(Answer(200, R"({"a": null, "b": 1, "c": "x"})").json, "a"), "");
  EXPECT_EQ(TextOf(Answer(200, "[1]").json, "a"), "");
  EXPECT_EQ(TextOf(Answer(200, R"({"a": null, "b": 1, "c": "x"})").json, "c"), "x");
  EXPECT_THAT(TableNamesOf(Answer(200, R"([{"name": 7}, 3, null, {"name": "t"}, {}])").json),
              ElementsAre("t"));
  EXPECT_THAT(NamespacesOf(Answer(200, R"([["a", 1], "b", ["c", "d"]])").json),
              ElementsAre(ElementsAre("a"), ElementsAre("c", "d")));
}

// A service that has not written a table yet tells no location.
TEST(RestAnswerTest, ATableWithoutALocationIsRead) {
  const auto table =
      TableOf(Answer(200, R"({"metadata-location": null, "metadata": {"format-version": 2, "table-uuid": "u",
        "location": "/w/t", "last-sequence-number": 0, "last-updated-ms": 1, "last-column-id": 1,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "id", "required": true, "type": "long"}]}],
        "current-schema-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "default-spec-id": 0,
        "last-partition-id": 999, "sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0}})")
                  .json);
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  EXPECT_EQ(table->metadata_location, "");
  EXPECT_FALSE(TableOf(Answer(200, "{}").json).ok());
}

TEST(RestAnswerTest, AnAnswerThatWasCutMayBeAskedForAgain) {
  const RestAnswer cut = Answer(200, R"({"metadata": {)");
  EXPECT_FALSE(cut.ok());
  EXPECT_EQ(cut.http.status.retry(), Retry::kBackoff);
  EXPECT_THAT(cut.http.status.message(), HasSubstr("GET http://lake/v1/config: the answer is no JSON"));
  EXPECT_EQ(Answer(502, "<html>\nbad gateway").error, "<html>");
}

}  // namespace
}  // namespace caudal::iceberg
