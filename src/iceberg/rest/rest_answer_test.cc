#include "iceberg/rest/rest_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caudal::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

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

TEST(RestAnswerTest, AGrantIsTheMostSpecialThatTheServiceGives) {
  const Json configuration =
      Answer(
          200,
          R"({"defaults": {"s3.region": "here", "prefix": "main"}, "overrides": {"s3.endpoint": "http://s"}})")
          .json;
  const TableGrant plain = GrantOf(configuration, Answer(200, R"({"config": {"s3.region": "there"}})").json);
  EXPECT_THAT(plain.options, ElementsAre(Pair("s3.endpoint", "http://s"), Pair("s3.region", "there")));
  EXPECT_EQ(plain.expires_millis, 0);
  const TableGrant vended =
      GrantOf(configuration,
              Answer(200, R"({"metadata": {"location": "s3://lake/db/t"}, "config": {"s3.access-key-id": "a",
        "s3.secret-access-key": "b", "s3.signer": "x", "s3.path-style-access": true}, "storage-credentials": [
        {"prefix": "s3://lake/db/", "config": {"s3.access-key-id": "c", "s3.secret-access-key": "d",
          "s3.session-token": "e", "s3.session-token-expires-at-ms": "17"}},
        {"prefix": "s3://lake", "config": {"s3.access-key-id": "f"}},
        {"prefix": "s3://other/db/table", "config": {"s3.access-key-id": "g"}}, 3, null]})")
                  .json);
  EXPECT_THAT(vended.options, ElementsAre(Pair("s3.access-key-id", "c"), Pair("s3.endpoint", "http://s"),
                                          Pair("s3.region", "here"), Pair("s3.secret-access-key", "d"),
                                          Pair("s3.session-token", "e")));
  EXPECT_EQ(vended.expires_millis, 17);
  EXPECT_TRUE(GrantOf(Json(), Json::array()).options.empty());
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
