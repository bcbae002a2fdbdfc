// The sink with real sentinels that watch a real master and its replicas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connect/redis/testing/redis_sink_fixture.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;

class RedisSentinelTest : public RedisSinkTest {
 protected:
  void SetUp() override {
    RedisSinkTest::SetUp();
    if (IsSkipped()) return;
    for (int& port : ports_) port = RedisServer::FreePort();
    for (int i = 0; i < 3; ++i) StartData(i, i == 0 ? "" : "127.0.0.1 " + std::to_string(ports_[0]));
    RedisProcess::WaitUntil("two replicas", [&] {
      return data_[0]->Ask({"INFO", "replication"}).find("connected_slaves:2") != std::string::npos;
    });
    const std::string watch =
        "sentinel monitor bank 127.0.0.1 " + std::to_string(ports_[0]) +
        " 2\nsentinel down-after-milliseconds bank 500\nsentinel failover-timeout bank "
        "3000\nsentinel parallel-syncs bank 2\nrequirepass hush\nsentinel sentinel-pass "
        "hush\n";
    for (int i = 0; i < 3; ++i) {
      sentinel_ports_[i] = RedisServer::FreePort();
      sentinels_.push_back(std::make_unique<RedisServer>(
          folder_ / ("sentinel" + std::to_string(i)),
          std::vector<std::string>{"--port", std::to_string(sentinel_ports_[i]), "--bind", "127.0.0.1"},
          watch));
    }
  }
  void TearDown() override {
    sentinels_.clear();
    for (auto& server : data_) server.reset();
    RedisSinkTest::TearDown();
  }

  void StartData(int i, const std::string& master) {
    std::vector<std::string> options = {"--port",    std::to_string(ports_[i]),    "--bind",
                                        "127.0.0.1", "--repl-diskless-sync-delay", "0"};
    if (!master.empty()) options.insert(options.end(), {"--replicaof", master});
    data_[i] = std::make_unique<RedisServer>(folder_ / ("data" + std::to_string(i)), options);
  }
  Table SentinelTable() {
    Table table = FeaturesTable();
    table.options.erase("url");
    for (const int port : sentinel_ports_) {
      std::string& nodes = table.options["sentinel-nodes"];
      nodes += (nodes.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(port);
    }
    table.options["master.name"] = "bank";
    table.options["sentinel.password"] = "hush";
    table.options["connect.timeout"] = "1 s";
    table.options["caudal.answer-timeout"] = "2 s";
    return table;
  }
  // As the runtime does: again after a pause, as long as the outcome is unknown.
  static CommitResult CommitUntilKnown(SinkCommitter& committer, Epoch epoch, const Committable& rows,
                                       int* stalls) {
    for (;;) {
      CommitResult result = committer.Commit(epoch, std::span(&rows, 1));
      if (result.outcome != CommitOutcome::kUnknown || ++*stalls > 1000) return result;
      RedisProcess::Pause(20);
    }
  }
  std::string AskSentinel(const std::vector<std::string>& words) {
    RedisTarget target;
    target.address = {"127.0.0.1", sentinel_ports_[0], ""};
    target.password = "hush";
    target.connect_millis = target.answer_millis = 30'000;
    return RedisServer::Ask(target, words);
  }
  // Until they have all that the first server has.
  void WaitForReplicas() {
    RedisProcess::WaitUntil("the replicas' hearing of it", [&] {
      const std::string all = data_[0]->Contents();
      return data_[1]->Contents() == all && data_[2]->Contents() == all;
    });
  }
  // That of data servers 0 to 2 which is the master, -1 when none says so.
  int Master() {
    for (int i = 0; i < 3; ++i) {
      if (data_[i] && data_[i]->Ask({"ROLE"}).starts_with("master")) return i;
    }
    return -1;
  }

  int ports_[3], sentinel_ports_[3];
  std::unique_ptr<RedisServer> data_[3];
  std::vector<std::unique_ptr<RedisServer>> sentinels_;
};

// The master is killed in the middle of a stream of epochs: it stalls and goes on, and nothing is missing.
TEST_F(RedisSentinelTest, AFailoverIsAStall) {
  Table table = SentinelTable();
  table.options["caudal.wait-replicas"] = "1";
  const auto sink = MakeSink(table);
  EXPECT_TRUE(sink->CheckTarget().ok()) << sink->CheckTarget().ToString();
  const auto committer = sink->MakeCommitter().value();
  int stalls = 0;
  for (int64_t number = 1; number <= 40; ++number) {
    std::vector<TestRow> rows = {{kAdd, "a" + std::to_string(number), number}};
    for (int i = 0; i < 300; ++i) rows.push_back({kAdd, "k" + std::to_string(i), number});
    const Committable committable = Prepare(*sink, {1, number}, Rows(rows));
    if (number == 20) data_[0].reset();
    sink_contract::ExpectCommitted(CommitUntilKnown(*committer, {1, number}, committable, &stalls));
  }
  EXPECT_GT(stalls, 0);
  const int master = Master();
  ASSERT_GT(master, 0);
  const std::string contents = data_[master]->Contents();
  EXPECT_EQ(std::count(contents.begin(), contents.end(), '{'), 340);
  for (int i = 0; i < 300; ++i) {
    EXPECT_THAT(contents,
                HasSubstr("acct:k" + std::to_string(i) + "={account=k" + std::to_string(i) + " n=40}"));
  }
  for (int i = 1; i <= 40; ++i) EXPECT_THAT(contents, HasSubstr("acct:a" + std::to_string(i) + "="));
}

// Replicas that have not heard of an epoch, and one of them becomes the master.
TEST_F(RedisSentinelTest, AFailoverThatLosesAnAcknowledgedEpochStops) {
  const auto sink = MakeSink(SentinelTable());
  const auto committer = sink->MakeCommitter().value();
  const Committable first = Prepare(*sink, {1, 1}, Rows({{kAdd, "a", 1}}));
  sink_contract::ExpectCommitted(committer->Commit({1, 1}, std::span(&first, 1)));
  WaitForReplicas();
  for (const int i : {1, 2}) data_[i]->Ask({"REPLICAOF", "127.0.0.1", "1"});  // cut off
  const Committable second = Prepare(*sink, {1, 2}, Rows({{kAdd, "b", 1}}));
  sink_contract::ExpectCommitted(committer->Commit({1, 2}, std::span(&second, 1)));
  const Committable third = Prepare(*sink, {1, 3}, Rows({{kAdd, "c", 1}}));
  data_[0].reset();
  int stalls = 0;
  // The process that saw it, and one that is started later.
  for (const CommitResult& result :
       {CommitUntilKnown(*committer, {1, 3}, third, &stalls),
        CommitUntilKnown(*MakeSink(SentinelTable())->MakeCommitter().value(), {1, 3}, third, &stalls)}) {
    EXPECT_EQ(result.outcome, CommitOutcome::kRefused);
    EXPECT_EQ(result.status.domain(), Domain::kData);
    EXPECT_THAT(result.status.ToString(), HasSubstr("lost what it had acknowledged"));
    EXPECT_THAT(result.status.ToString(), HasSubstr("is at epoch 1-1 and was at 1-2"));
    EXPECT_THAT(result.status.ToString(), HasSubstr("master 'bank' of the sentinels"));
    EXPECT_THAT(result.status.hint(), HasSubstr("'caudal.wait-replicas'"));
  }
  EXPECT_EQ(data_[Master()]->Contents(), "acct:a={account=a n=1} ");
}

// The connection to a server that was the master once is given up, and none to it is made.
TEST_F(RedisSentinelTest, ADemotedMasterIsLeft) {
  const auto sink = MakeSink(SentinelTable());
  const auto committer = sink->MakeCommitter().value();
  int stalls = 0;
  const Committable first = Prepare(*sink, {1, 1}, Rows({{kAdd, "a", 1}}));
  sink_contract::ExpectCommitted(CommitUntilKnown(*committer, {1, 1}, first, &stalls));
  EXPECT_EQ(stalls, 0);
  WaitForReplicas();
  const Committable second = Prepare(*sink, {1, 2}, Rows({{kAdd, "b", 1}}));
  data_[0]->Ask({"REPLICAOF", "127.0.0.1", "1"});
  EXPECT_EQ(committer->Commit({1, 2}, std::span(&second, 1)).outcome, CommitOutcome::kUnknown);
  const CommitResult no_master = committer->Commit({1, 2}, std::span(&second, 1));
  EXPECT_EQ(no_master.outcome, CommitOutcome::kUnknown);
  EXPECT_THAT(no_master.status.ToString(), HasSubstr("the server is a replica"));
  data_[0]->Ask({"REPLICAOF", "NO", "ONE"});
  sink_contract::ExpectCommitted(CommitUntilKnown(*committer, {1, 2}, second, &stalls));
  // Somebody orders a failover while the connection stays.
  RedisProcess::WaitUntil("the order", [&] { return AskSentinel({"SENTINEL", "FAILOVER", "bank"}) == "OK"; });
  RedisProcess::WaitUntil("the failover", [&] { return data_[0]->Ask({"ROLE"}).starts_with("slave"); });
  const Committable third = Prepare(*sink, {1, 3}, Rows({{kAdd, "c", 1}}));
  sink_contract::ExpectCommitted(CommitUntilKnown(*committer, {1, 3}, third, &stalls));
  EXPECT_GT(stalls, 0);
  const int master = Master();
  ASSERT_GT(master, 0);
  EXPECT_EQ(data_[master]->Contents(),
            "acct:a={account=a n=1} acct:b={account=b n=1} acct:c={account=c n=1} ");
}

TEST_F(RedisSentinelTest, WhatSentinelsDoNotKnowIsSaid) {
  Table table = SentinelTable();
  table.options["master.name"] = "shop";
  Status refused = MakeSink(table)->CheckTarget();
  EXPECT_EQ(refused.domain(), Domain::kUser);
  EXPECT_THAT(refused.ToString(), HasSubstr("no sentinel knows a master 'shop'"));
  table = SentinelTable();
  table.options["sentinel.password"] = "guess";
  refused = MakeSink(table)->CheckTarget();
  EXPECT_EQ(refused.domain(), Domain::kUser);
  EXPECT_THAT(refused.ToString(), HasSubstr("WRONGPASS"));
  table = SentinelTable();
  table.options["sentinel-nodes"] = "127.0.0.1:" + std::to_string(ports_[0]);
  table.options.erase("sentinel.password");
  refused = MakeSink(table)->CheckTarget();
  EXPECT_THAT(refused.ToString(), HasSubstr("runs as 'standalone', and the table wants 'sentinel'"));
  // One that answers is enough.
  table = SentinelTable();
  sentinels_[0].reset();
  sentinels_[1].reset();
  Write(*MakeSink(table), {1, 1}, {{kAdd, "a", 1}});
  // Whoever is down may be the one that knows; what the others say is told all the same.
  table.options["master.name"] = "shop";
  const auto sink = MakeSink(table);
  const Status unknown = (*sink->MakeCommitter())->LastCommitted().status();
  EXPECT_EQ(unknown.domain(), Domain::kExternal);
  EXPECT_THAT(unknown.message(), HasSubstr("Connection refused"));
  EXPECT_THAT(unknown.message(), HasSubstr("it knows no master 'shop'"));
  EXPECT_THAT(unknown.hint(), HasSubstr("'master.name'"));
}

}  // namespace
}  // namespace caudal
