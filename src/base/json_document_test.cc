#include "base/json_document.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace caudal {
namespace {

TEST(JsonDocument, KeepsTheOrderOfMembers) {
  auto parsed = ParseJsonDocument(R"({"b": 1, "a": [true, null], "c": "]}"})");
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->dump(), R"({"b":1,"a":[true,null],"c":"]}"})");
}

TEST(JsonDocument, SaysWhereItBreaks) {
  auto parsed = ParseJsonDocument(R"({"a": 1, "b": })");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.status().message(), "no JSON: it breaks at byte 15 of 15");
  EXPECT_EQ(ParseJsonDocument("").status().message(), "no JSON: it breaks at byte 1 of 0");
  EXPECT_EQ(ParseJsonDocument("\"\xff\"").status().message(), "no JSON: it breaks at byte 2 of 3");
}

TEST(JsonDocument, RefusesWhatWouldNeedADeepStack) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(ParseJsonDocument(nested(kMaxJsonDepth)).ok());
  EXPECT_EQ(ParseJsonDocument(nested(kMaxJsonDepth + 1)).status().message(),
            "the JSON nests deeper than 256 levels");
  EXPECT_FALSE(ParseJsonDocument(nested(1000000)).ok());
}

}  // namespace
}  // namespace caudal
