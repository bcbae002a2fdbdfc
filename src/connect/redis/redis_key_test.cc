#include "connect/redis/redis_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace caudal {
namespace {

using ::testing::HasSubstr;
using Names = std::vector<std::string>;

std::string KeyOf(std::string_view text, const Names& columns, const Names& values) {
  auto parsed = RedisKeyTemplate::Parse(text, columns);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  std::string key;
  if (parsed.ok()) parsed->Append(values, &key);
  return key;
}

TEST(RedisKey, OneColumnIsWrittenAsItIs) {
  EXPECT_EQ(KeyOf("acct:{account_id}", {"account_id"}, {"a:1%"}), "acct:a:1%");
  EXPECT_EQ(KeyOf("{id}", {"id"}, {""}), "");
  EXPECT_EQ(KeyOf("acct:{id}:hot", {"id"}, {"7"}), "acct:7:hot");
}

TEST(RedisKey, SeveralColumnsAreKeptApart) {
  EXPECT_EQ(KeyOf("t:{a}:{b}", {"a", "b"}, {"x:y", "z%"}), "t:x%3Ay:z%25");
  EXPECT_EQ(KeyOf("{b}|{a}", {"a", "b"}, {"1|", "2:"}), "2:|1%7C");
}

TEST(RedisKey, NoTwoRowsShareAKey) {
  const Names hard = {"", ":", "%", "%3A", "a", "a:", ":a", "::", "%:", "é"};
  std::set<std::string> keys;
  for (const std::string& a : hard) {
    for (const std::string& b : hard) {
      for (const std::string& c : hard) keys.insert(KeyOf("t:{a}:{b}::{c}", {"a", "b", "c"}, {a, b, c}));
    }
  }
  EXPECT_EQ(keys.size(), hard.size() * hard.size() * hard.size());
}

TEST(RedisKey, TheDefaultNamesTheTable) {
  EXPECT_EQ(RedisKeyTemplate::DefaultFor("features", Names{"account_id", "window_end"}),
            "features:{account_id}:{window_end}");
}

TEST(RedisKey, SaysWhatIsWrong) {
  const auto refused = [](std::string_view text, const Names& columns) {
    return RedisKeyTemplate::Parse(text, columns).status().ToString();
  };
  EXPECT_THAT(refused("acct:{id", {"id"}), HasSubstr("a '{' without its '}'"));
  EXPECT_THAT(refused("acct:{amount}", {"id"}), HasSubstr("'amount' is no column of the primary key"));
  EXPECT_THAT(refused("acct", {"id"}), HasSubstr("column 'id' of the primary key is missing"));
  EXPECT_THAT(refused("{a}{b}", {"a", "b"}), HasSubstr("nothing keeps 'a' and 'b' apart"));
  EXPECT_THAT(refused("{a}%{b}", {"a", "b"}), HasSubstr("nothing keeps 'a' and 'b' apart"));
  EXPECT_THAT(refused("{a}to{b}", {"a", "b"}), HasSubstr("nothing keeps 'a' and 'b' apart"));
}

}  // namespace
}  // namespace caudal
