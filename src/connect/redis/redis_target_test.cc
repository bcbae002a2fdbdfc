#include "connect/redis/redis_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connect/redis/redis_connector.h"
#include "connect/redis/redis_error.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Table TableWith(Options options) {
  Table table;
  table.name = "features";
  table.columns = {{"a", Type::String().WithNullable(false)},
                   {"b", Type(TypeId::kInt).WithNullable(false)},
                   {"n", Type(TypeId::kBigInt)}};
  table.primary_key = {0, 1};
  table.options = std::move(options);
  table.options["connector"] = "redis";
  return table;
}

std::string Refused(Options options) {
  const RedisConnector connector;
  const Table table = TableWith(std::move(options));
  Status status = ValidateOptions(connector, table);
  if (status.ok()) status = RedisTarget::Of(table).status();
  EXPECT_FALSE(status.ok());
  if (status.ok()) return "";
  EXPECT_EQ(status.domain(), Domain::kUser);
  return status.ToString();
}

TEST(RedisTarget, ReadsAUrl) {
  const auto origin = [](std::string url) {
    auto target = RedisTarget::Of(TableWith({{"url", std::move(url)}}));
    EXPECT_TRUE(target.ok()) << target.status().ToString();
    return target.ok() ? target->origin() + " " + target->username + " " + target->password : "";
  };
  EXPECT_EQ(origin("redis://localhost"), "redis://localhost:6379/0  ");
  EXPECT_EQ(origin("redis://host:1234/7"), "redis://host:1234/7  ");
  EXPECT_EQ(origin("redis://bank:p%40ss%3A@host:1/2"), "redis://host:1/2 bank p@ss:");
  EXPECT_EQ(origin("redis://:secret@[::1]:5/"), "redis://[::1]:5/0  secret");
  EXPECT_EQ(origin("unix:///run/redis.sock?db=3"), "unix:///run/redis.sock?db=3  ");
}

TEST(RedisTarget, ReadsTheOptions) {
  auto target =
      RedisTarget::Of(TableWith({{"hostname", "host"}, {"password", "secret"}, {"caudal.ttl", "1 d"}}));
  ASSERT_TRUE(target.ok()) << target.status().ToString();
  EXPECT_EQ(target->origin(), "redis://host:6379/0");
  EXPECT_EQ(target->frame(), "server host:6379, database 0, sink 'features'");
  EXPECT_EQ(target->layout.key_text, "features:{a}:{b}");
  EXPECT_EQ(target->layout.ttl_millis, 86'400'000);
  EXPECT_EQ(target->answer_millis, 10'000);
}

TEST(RedisTarget, SaysWhatIsWrong) {
  EXPECT_THAT(Refused({}), HasSubstr("it has neither 'hostname' nor 'url'"));
  EXPECT_THAT(Refused({{"hostname", "h"}, {"port", "70000"}}), HasSubstr("'port' = '70000' is no port"));
  EXPECT_THAT(Refused({{"hostname", "h"}, {"database", "-1"}}), HasSubstr("'database' = '-1'"));
  EXPECT_THAT(Refused({{"hostname", "h"}, {"username", "u"}}), HasSubstr("a user and no password"));
  EXPECT_THAT(Refused({{"url", "redis://h"}, {"hostname", "h"}}), HasSubstr("both 'url' and 'hostname'"));
  EXPECT_THAT(Refused({{"hostname", "h"}, {"caudal.ttl", "0 s"}}), HasSubstr("'caudal.ttl' is 0"));
  EXPECT_THAT(Refused({{"hostname", "h"}, {"caudal.ttl", "99999999999 d"}}),
              HasSubstr("'99999999999 d' is too long"));
  EXPECT_THAT(Refused({{"hostname", "h"}, {"caudal.key", "caudal:ledger:{a}:{b}"}}),
              HasSubstr("'caudal.key' = 'caudal:ledger:{a}:{b}': keys that begin with 'caudal:ledger:' are"));
  EXPECT_THAT(Refused({{"hostname", "h"}, {"connect.timeout", "0 s"}}),
              HasSubstr("'connect.timeout' is '0 s'"));
  EXPECT_THAT(Refused({{"hostname", "h"}, {"caudal.answer-timeout", "0"}}),
              HasSubstr("'caudal.answer-timeout' is '0'"));
  EXPECT_THAT(Refused({{"hostname", "h"}, {"caudal.value-format", "list"}}),
              HasSubstr("'hash', 'string' or 'json'"));
  EXPECT_THAT(Refused({{"hostname", "h"}, {"caudal.key", "f:{a}"}}),
              HasSubstr("column 'b' of the primary key is missing"));
  Table wide = TableWith({{"hostname", "h"}, {"caudal.value-format", "string"}});
  wide.columns.push_back({"m", Type(TypeId::kBigInt)});
  EXPECT_THAT(RedisTarget::Of(wide).status().ToString(), HasSubstr("there are 2"));
  Table nested = TableWith({{"hostname", "h"}});
  nested.columns.push_back({"m", Type::Array(Type::String())});
  EXPECT_THAT(RedisTarget::Of(nested).status().ToString(),
              HasSubstr("column 'm': connector 'redis' cannot hold ARRAY"));
}

TEST(RedisTarget, AUrlIsNotQuoted) {
  for (const char* url : {"http://u:hush@h", "redis://u:hush@", "rediss://u:hush@", "redis://u:hush@h:port",
                          "redis://u:hush@h/db", "redis://u:hu%zzsh@h", "redis://u:hush@[::1",
                          "redis://u:hush@h?x=1", "unix://u:hush@run/redis.sock"}) {
    EXPECT_THAT(Refused({{"url", url}}), Not(HasSubstr("hush"))) << url;
  }
}

TEST(RedisTarget, WhatIsNotBuiltIsRefusedByName) {
  for (const char* name : {"cluster-mode", "cluster.nodes", "sentinel.nodes", "ssl.truststore", "tls",
                           "lookup.async", "sink.parallelism"}) {
    const std::string message = Refused({{"hostname", "h"}, {name, "7"}});
    EXPECT_THAT(message, HasSubstr("not built yet"));
    EXPECT_THAT(message, HasSubstr(name));
  }
}

TEST(RedisTarget, ATableWithoutAPrimaryKeyIsRefusedWithTheReason) {
  Table table = TableWith({{"hostname", "h"}});
  table.primary_key.clear();
  const RedisConnector connector;
  for (const Status& status :
       {connector.sink_changelog(table).status(), connector.MakeSink(table, {}).status()}) {
    EXPECT_EQ(status.domain(), Domain::kUser);
    EXPECT_THAT(status.ToString(), HasSubstr("has no PRIMARY KEY: it tells which key"));
  }
}

TEST(RedisError, TellsWhatPassesFromWhatDoesNot) {
  for (const char* answer :
       {"LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script.",
        "READONLY You can't write against a read only replica.",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
        "NOREPLICAS Not enough good replicas to write.", "NOSCRIPT No matching script.",
        "ERR max number of clients reached", "MASTERDOWN Link with MASTER is down",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        // As Redis 6 gives them out of a script.
        "@user_script: 47: -OOM command not allowed when used memory > 'maxmemory'.\r\n",
        "@user_script: 47: -READONLY You can't write against a read only replica.\r\n",
        "@user_script: 47: -MISCONF Redis is configured to save RDB snapshots, but it is not able to.\r\n",
        "SOMETHINGNEW The server is in a state of next year"}) {
    EXPECT_EQ(RedisError(answer).domain(), Domain::kExternal) << answer;
    EXPECT_EQ(RedisError(answer).retry(), Retry::kBackoff) << answer;
    EXPECT_FALSE(RedisError(answer).hint().empty()) << answer;
  }
  for (const char* answer :
       {"NOAUTH Authentication required.", "WRONGPASS invalid username-password pair or user is disabled.",
        "NOPERM this user has no permissions", "MOVED 3999 127.0.0.1:6381", "ERR invalid password",
        "ERR Client sent AUTH, but no password is set", "DENIED Redis is running in protected mode"}) {
    EXPECT_EQ(RedisError(answer).domain(), Domain::kUser) << answer;
    EXPECT_EQ(RedisError(answer).retry(), Retry::kNo) << answer;
    EXPECT_FALSE(RedisError(answer).hint().empty()) << answer;
  }
  EXPECT_EQ(RedisError("WRONGTYPE Operation against a key holding the wrong kind of value").domain(),
            Domain::kData);
  EXPECT_EQ(
      RedisError("ERR Error running script (call to f_1): @user_script:3: WRONGTYPE Operation").domain(),
      Domain::kData);
  const Status unknown = RedisError("ERR something new");
  EXPECT_EQ(unknown.domain(), Domain::kUser);
  EXPECT_THAT(unknown.ToString(), HasSubstr("something new"));
}

}  // namespace
}  // namespace caudal
