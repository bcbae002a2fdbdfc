#include "connect/redis/server/redis_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connect/redis/redis_connector.h"

namespace caudal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Table OfServers(Options options) {
  Table table;
  table.name = "features";
  table.columns = {{"a", Type::String().WithNullable(false)}, {"n", Type(TypeId::kBigInt)}};
  table.primary_key = {0};
  table.options = std::move(options);
  table.options["connector"] = "redis";
  return table;
}

RedisTarget Taken(Options options) {
  const Table table = OfServers(std::move(options));
  Status status = ValidateOptions(RedisConnector(), table);
  EXPECT_TRUE(status.ok()) << status.ToString();
  auto target = RedisTarget::Of(table);
  EXPECT_TRUE(target.ok()) << target.status().ToString();
  return target.ok() ? *target : RedisTarget();
}

std::string NotTaken(Options options) {
  const Table table = OfServers(std::move(options));
  Status status = ValidateOptions(RedisConnector(), table);
  if (status.ok()) status = RedisTarget::Of(table).status();
  EXPECT_FALSE(status.ok());
  if (status.ok()) return "";
  EXPECT_EQ(status.domain(), Domain::kUser);
  return status.ToString();
}

TEST(RedisServers, TlsIsAskedForByUrlOrOption) {
  EXPECT_FALSE(Taken({{"url", "redis://h"}}).tls);
  const RedisTarget by_url = Taken({{"url", "rediss://bank:pw@h:7/2"}, {"ssl.ca.location", "/ca.pem"}});
  ASSERT_TRUE(by_url.tls);
  EXPECT_EQ(by_url.tls->ca_file, "/ca.pem");
  EXPECT_TRUE(by_url.tls->check_name);
  EXPECT_EQ(by_url.origin(), "redis://h:7/2");
  const RedisTarget by_option = Taken({{"hostname", "h"},
                                       {"ssl", "true"},
                                       {"ssl.certificate.location", "/c.pem"},
                                       {"ssl.key.location", "/c.key"},
                                       {"ssl.key.password", "sesame"},
                                       {"caudal.ssl.server-name", "db.example"},
                                       {"ssl.endpoint.identification.algorithm", "none"}});
  ASSERT_TRUE(by_option.tls);
  EXPECT_EQ(by_option.tls->certificate_file, "/c.pem");
  EXPECT_EQ(by_option.tls->key_file, "/c.key");
  EXPECT_EQ(by_option.tls->key_password, "sesame");
  EXPECT_EQ(by_option.tls->server_name, "db.example");
  EXPECT_FALSE(by_option.tls->check_name);
  EXPECT_THAT(NotTaken({{"hostname", "h"}, {"ssl.ca.location", "/ca.pem"}}),
              HasSubstr("connects in the clear"));
  EXPECT_THAT(NotTaken({{"hostname", "h"}, {"ssl", "true"}, {"ssl.key.location", "/k"}}),
              HasSubstr("no 'ssl.certificate.location'"));
  EXPECT_THAT(
      NotTaken({{"hostname", "h"}, {"ssl", "true"}, {"ssl.endpoint.identification.algorithm", "ldap"}}),
      HasSubstr("'https', to look at"));
}

TEST(RedisServers, TlsThatIsNotMeantOrNotThereIsSaid) {
  EXPECT_TRUE(Taken({{"hostname", "h"}, {"ssl", "TRUE"}}).tls);
  EXPECT_TRUE(Taken({{"url", "rediss://h"}, {"ssl", "true"}}).tls);
  EXPECT_THAT(NotTaken({{"url", "rediss://h"}, {"ssl", "false"}}),
              HasSubstr("'url' is of 'rediss:', which is TLS, and 'ssl' is 'false'"));
  EXPECT_THAT(NotTaken({{"url", "unix:///run/redis.sock"}, {"ssl", "true"}}), HasSubstr("has no TLS"));
  EXPECT_THAT(NotTaken({{"hostname", "h"}, {"ssl", "true"}, {"ssl.key.password", "sesame"}}),
              HasSubstr("'ssl.key.password' and no 'ssl.certificate.location'"));
  EXPECT_THAT(NotTaken({{"hostname", "h"}, {"ssl", "true"}, {"ssl.endpoint.identification.algorithm", ""}}),
              HasSubstr("'ssl.endpoint.identification.algorithm' is ''"));
}

TEST(RedisServers, SentinelsAndTheMasterThatTheyWatch) {
  const RedisTarget target = Taken({{"sentinel-nodes", "one, two:7;[::1]:8"},
                                    {"master.name", "bank"},
                                    {"sentinel.password", "hush"},
                                    {"database", "3"}});
  EXPECT_EQ(target.mode, RedisMode::kSentinel);
  ASSERT_EQ(target.nodes.size(), 3u);
  EXPECT_EQ(target.nodes[0].text(), "one:26379");
  EXPECT_EQ(target.nodes[1].text(), "two:7");
  EXPECT_EQ(target.nodes[2].text(), "[::1]:8");
  EXPECT_EQ(target.origin(), "redis-sentinel:bank/3");  // whichever sentinels are asked
  EXPECT_THAT(target.frame(), HasSubstr("master 'bank' of the sentinels one:26379, two:7, [::1]:8"));
  EXPECT_THAT(NotTaken({{"sentinel-nodes", "one"}}), HasSubstr("no 'master.name'"));
  EXPECT_THAT(NotTaken({{"redis-mode", "sentinel"}}), HasSubstr("'sentinel-nodes' is missing"));
  EXPECT_THAT(NotTaken({{"sentinel-nodes", "one:port"}, {"master.name", "bank"}}),
              AllOf(HasSubstr("'one:port' is no host:port"), HasSubstr("'one:26379")));
}

TEST(RedisServers, NodesOfACluster) {
  const RedisTarget target = Taken({{"redis-mode", "cluster"}, {"cluster-nodes", "one:1,two"}});
  EXPECT_EQ(target.mode, RedisMode::kCluster);
  ASSERT_EQ(target.nodes.size(), 2u);
  EXPECT_EQ(target.nodes[1].text(), "two:6379");
  EXPECT_EQ(target.origin(), "redis-cluster:");
  EXPECT_THAT(NotTaken({{"redis-mode", "cluster"}}), HasSubstr("'cluster-nodes' is missing"));
  EXPECT_THAT(NotTaken({{"cluster-nodes", "one"}, {"database", "1"}}), HasSubstr("no other database than 0"));
}

TEST(RedisServers, OptionsThatContradictEachOtherAreSaid) {
  EXPECT_THAT(NotTaken({{"redis-mode", "replica"}, {"hostname", "h"}}), HasSubstr("'single', 'sentinel' or"));
  EXPECT_THAT(NotTaken({{"redis-mode", "single"}, {"cluster-nodes", "one"}}),
              HasSubstr("'cluster-nodes' says nothing where 'redis-mode' is 'single'"));
  EXPECT_THAT(NotTaken({{"cluster-nodes", "one"}, {"hostname", "h"}}), HasSubstr("'hostname' says nothing"));
  EXPECT_THAT(NotTaken({{"hostname", "h"}, {"master.name", "bank"}}),
              HasSubstr("'master.name' says nothing"));
  EXPECT_THAT(NotTaken({{"hostname", "h"}, {"caudal.wait-replicas", "-1"}}),
              HasSubstr("is no number of replicas"));
}

}  // namespace
}  // namespace caudal
