// The sink with a real cluster: slots, their moves, a failover, losses.
#include "connect/redis/testing/redis_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "connect/redis/redis_connector.h"
#include "connect/redis/redis_ledger.h"
#include "connect/redis/redis_script.h"
#include "connect/redis/server/redis_nodes.h"
#include "connect/redis/testing/redis_sink_fixture.h"
#include "data/column_view.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;

class RedisClusterTest : public RedisSinkTest {
 protected:
  Table ClusterTable(const RedisCluster& cluster) {
    Table table = FeaturesTable();
    table.options.erase("url");
    table.options["cluster-nodes"] = cluster.nodes();
    table.options["connect.timeout"] = "1 s";
    table.options["caudal.answer-timeout"] = "2 s";
    return table;
  }
  static std::vector<TestRow> Accounts(int count, int64_t n) {
    std::vector<TestRow> rows;
    for (int i = 0; i < count; ++i) rows.push_back({kAdd, "k" + std::to_string(i), n});
    return rows;
  }
  // How many rows say `n`.
  static int64_t CountOf(RedisCluster& cluster, int64_t n) {
    const std::string contents = cluster.Contents(), wanted = " n=" + std::to_string(n) + "}";
    int64_t count = 0;
    for (size_t at = 0; (at = contents.find(wanted, at)) != std::string::npos; ++at) ++count;
    return count;
  }
  // As the runtime does: again after a pause, as long as the outcome is unknown.
  static CommitResult UntilKnown(SinkCommitter& committer, Epoch epoch, const Committable& rows,
                                 int* stalls) {
    for (;;) {
      CommitResult result = committer.Commit(epoch, std::span(&rows, 1));
      if (result.outcome != CommitOutcome::kUnknown || ++*stalls > 1000) return result;
      RedisProcess::Pause(20);
    }
  }
};

TEST_F(RedisClusterTest, KeepsTheContractOfSinks) {
  std::vector<std::unique_ptr<RedisCluster>> clusters;
  const int cut_short = CheckSinkContract([&] {
    const auto folder = folder_ / std::to_string(clusters.size());
    clusters.push_back(std::make_unique<RedisCluster>(folder, 3));
    return ContractOf(ClusterTable(*clusters.back()), folder,
                      [cluster = clusters.back().get()] { return cluster->Contents(); });
  });
  // A process dies at three connections, sends and receives, and before the last batches; that the first node
  // does not answer the next one makes good, so that errors count at two connections and before the batches.
  EXPECT_EQ(cut_short, (3 + 3 + 3 + 1) + (2 + 1));
}

// KF-55.
TEST_F(RedisClusterTest, AnEpochGoesToAllServers) {
  RedisCluster cluster(folder_, 3);
  const auto sink = MakeSink(ClusterTable(cluster));
  EXPECT_TRUE(sink->CheckTarget().ok()) << sink->CheckTarget().ToString();
  Write(*sink, {1, 1}, Accounts(1000, 1));
  EXPECT_EQ(CountOf(cluster, 1), 1000);
  for (int i = 0; i < 3; ++i) EXPECT_GT(cluster.server(i).Contents().size(), 1000u);
  EXPECT_EQ(*(*sink->MakeCommitter())->LastCommitted(), (Epoch{1, 1}));
  std::vector<TestRow> gone;
  for (int i = 0; i < 1000; ++i) gone.push_back({kRemove, "k" + std::to_string(i), 1});
  Write(*sink, {1, 2}, gone);
  EXPECT_EQ(cluster.Contents(), "| | | ");
}

// Also those whose slot has moved since it was asked who has it, or is moving.
TEST_F(RedisClusterTest, LooksKeysUpOnTheServersThatHaveThem) {
  RedisCluster cluster(folder_, 3);
  const Table table = ClusterTable(cluster);
  Write(*MakeSink(table), {1, 1}, Accounts(1000, 7));
  LookupRequest request;
  request.keys = {0};
  request.columns = {1};
  request.schema.fields = {{"n", Type(TypeId::kBigInt)}};
  auto lookup = RedisConnector().MakeLookup(table, request, {});
  ASSERT_TRUE(lookup.ok()) << lookup.status().ToString();
  ColumnBuilder names(Type::String().WithNullable(false));
  for (int i = 0; i < 1001; ++i) names.AppendString("k" + std::to_string(i));  // the last one is not there
  const Chunk keys({names.Finish()}, 1001);
  const auto sum = [&] {
    const Result<LookupRows> rows = (*lookup)->Find(keys);
    EXPECT_TRUE(rows.ok()) << rows.status().ToString();
    int64_t total = 0;
    for (size_t i = 0; rows.ok() && i < rows->key_of_row.size(); ++i) {
      total += ColumnView<int64_t>(*rows->columns[0])[static_cast<int32_t>(i)];
    }
    return total;
  };
  EXPECT_EQ(sum(), 7000);
  const int slot = RedisSlotOf("acct:k5"), to = (cluster.OwnerOf(slot) + 1) % 3;
  cluster.BeginMove(slot, to);
  cluster.MoveKeys(slot, to);
  EXPECT_EQ(sum(), 7000);
  cluster.EndMove(slot, to);
  EXPECT_EQ(sum(), 7000);
}

TEST_F(RedisClusterTest, ARepeatedAnOlderAndAZombieCommitChangeNothing) {
  RedisCluster cluster(folder_, 2);
  const auto sink = MakeSink(ClusterTable(cluster));
  const Committable first = Prepare(*sink, {1, 1}, Rows(Accounts(50, 1)));
  const Committable zombie = Prepare(*sink, {1, 9}, Rows({{kAdd, "zombie", 1}}));
  for (int i = 0; i < 2; ++i) sink_contract::ExpectCommitted(Commit(*sink, {1, 1}, first));
  Write(*sink, {2, 2}, Accounts(50, 2));
  const std::string contents = cluster.Contents();
  sink_contract::ExpectCommitted(Commit(*sink, {1, 1}, first));
  sink_contract::ExpectCommitted(Commit(*sink, {1, 9}, zombie));
  EXPECT_EQ(cluster.Contents(), contents);
  EXPECT_EQ(CountOf(cluster, 2), 50);
}

// A zombie that has looked at the head before the newer epoch was there.
TEST_F(RedisClusterTest, EachSlotTurnsAnOlderEpochAway) {
  RedisCluster cluster(folder_, 2);
  RedisTarget target = *RedisTarget::Of(ClusterTable(cluster));
  const auto sink = MakeSink(ClusterTable(cluster));
  Write(*sink, {2, 2}, {{kAdd, "a", 2}});
  auto nodes = RedisNodes::Open(&target, kRedisCommitScript);
  ASSERT_TRUE(nodes.ok()) << nodes.status().ToString();
  const int slot = (*nodes)->SlotOf("acct:a");
  RedisCommand command;
  command.Add("EVALSHA").Add(std::string_view((*nodes)->script())).Add(int64_t{2});
  command.Add(std::string_view(RedisLedger::Of(context_).of_slot(slot))).Add("acct:a");
  command.Add(int64_t{1}).Add(int64_t{7}).Add("zombie").Add(int64_t{1}).Add(int64_t{1}).Add(int64_t{0});
  command.Add(int64_t{0}).Add(int64_t{0}).Add("S").Add("old");
  EXPECT_EQ((*nodes)->Call("acct:a", command)->list[0].text, "older");
  EXPECT_THAT(cluster.Contents(), HasSubstr("acct:a={account=a n=2}"));
}

TEST_F(RedisClusterTest, SlotsMayHaveMoved) {
  RedisCluster cluster(folder_, 2);
  const auto sink = MakeSink(ClusterTable(cluster));
  const auto committer = sink->MakeCommitter().value();
  const auto write = [&](int64_t number) {
    const Committable rows = Prepare(*sink, {1, number}, Rows(Accounts(500, number)));
    return committer->Commit({1, number}, std::span(&rows, 1));
  };
  sink_contract::ExpectCommitted(write(1));
  for (int i = 0; i < 200; ++i) {  // some of the first server's, some of the second's
    const int slot = RedisSlotOf("acct:k" + std::to_string(i)), to = 1 - cluster.OwnerOf(slot);
    cluster.BeginMove(slot, to);
    cluster.MoveKeys(slot, to);
    cluster.EndMove(slot, to);
  }
  sink_contract::ExpectCommitted(write(2));  // no stall
  EXPECT_EQ(CountOf(cluster, 2), 500);
}

// In the middle of a move some keys are here and some there: the epoch waits, and is whole then.
TEST_F(RedisClusterTest, AMoveInTheMiddleIsWaitedFor) {
  RedisCluster cluster(folder_, 2);
  Table table = ClusterTable(cluster);
  table.options["caudal.answer-timeout"] = "200 ms";
  const auto sink = MakeSink(table);
  Write(*sink, {1, 1}, {{kAdd, "a", 1}, {kAdd, "b", 1}});
  const int slot = RedisSlotOf("acct:a"), from = cluster.OwnerOf(slot), to = 1 - from;
  cluster.BeginMove(slot, to);
  Write(*sink, {1, 2}, {{kChange, "a", 2}});  // all keys are still there
  cluster.MoveKey("acct:a", from, to);
  const Committable third = Prepare(*sink, {1, 3}, Rows({{kChange, "a", 3}, {kChange, "b", 3}}));
  const CommitResult waits = Commit(*sink, {1, 3}, third);
  EXPECT_EQ(waits.outcome, CommitOutcome::kUnknown);
  EXPECT_THAT(waits.status.ToString(), HasSubstr("TRYAGAIN"));
  EXPECT_THAT(cluster.Contents(), HasSubstr("acct:a={account=a n=2}"));
  cluster.MoveKeys(slot, to);
  sink_contract::ExpectCommitted(
      Commit(*sink, {1, 3}, third));  // the slot is there, and not yet its name: ASK
  cluster.EndMove(slot, to);
  Write(*sink, {1, 4}, {{kChange, "a", 4}});
  EXPECT_THAT(cluster.Contents(), HasSubstr("acct:a={account=a n=4}"));
  EXPECT_THAT(cluster.Contents(), HasSubstr("acct:b={account=b n=3}"));
}

TEST_F(RedisClusterTest, RowsAreWrittenWhileSlotsMove) {
  RedisCluster cluster(folder_, 2);
  const auto sink = MakeSink(ClusterTable(cluster));
  const auto committer = sink->MakeCommitter().value();
  std::atomic<bool> stop = false;
  std::atomic<int> moved = 0;
  std::thread mover([&] {
    for (int i = 0; !stop && !HasFailure(); i = (i + 1) % 400) {  // there, and back again
      const int slot = RedisSlotOf("acct:k" + std::to_string(i)), to = 1 - cluster.OwnerOf(slot);
      cluster.BeginMove(slot, to);
      cluster.MoveKeys(slot, to);
      cluster.EndMove(slot, to);
      ++moved;
    }
  });
  int stalls = 0;
  int64_t number = 0;
  while (moved < 400 && !HasFailure()) {
    ++number;
    const Committable rows = Prepare(*sink, {1, number}, Rows(Accounts(400, number)));
    sink_contract::ExpectCommitted(UntilKnown(*committer, {1, number}, rows, &stalls));
  }
  stop = true;
  mover.join();
  EXPECT_GT(number, 3);
  EXPECT_EQ(CountOf(cluster, number), 400);
}

TEST_F(RedisClusterTest, AServerThatHasLostAnEpochIsFoundOut) {
  RedisCluster cluster(folder_, 3);
  for (const int which : {0, 1, 2}) {
    context_.identity = std::to_string(which);
    const auto sink = MakeSink(ClusterTable(cluster));
    const auto committer = sink->MakeCommitter().value();
    const Committable first = Prepare(*sink, {1, 1}, Rows(Accounts(300, 1)));
    sink_contract::ExpectCommitted(committer->Commit({1, 1}, std::span(&first, 1)));
    const Committable second = Prepare(*sink, {1, 2}, Rows(Accounts(300, 2)));
    cluster.server(which).Ask({"FLUSHALL"});
    // The process that saw it, and one that is started later.
    for (const CommitResult& result : {committer->Commit({1, 2}, std::span(&second, 1)),
                                       Commit(*MakeSink(ClusterTable(cluster)), {1, 2}, second)}) {
      EXPECT_EQ(result.outcome, CommitOutcome::kRefused) << which;
      EXPECT_THAT(result.status.ToString(), HasSubstr("lost what it had acknowledged"));
      EXPECT_THAT(result.status.ToString(), HasSubstr("cluster of 127.0.0.1:"));
    }
    EXPECT_EQ(CountOf(cluster, 2), 0);
  }
}

// Of one slot alone, by somebody's hand: who had it in mind finds out.
TEST_F(RedisClusterTest, ASlotThatHasLostAnEpochIsFoundOut) {
  RedisCluster cluster(folder_, 2);
  const auto sink = MakeSink(ClusterTable(cluster));
  const auto committer = sink->MakeCommitter().value();
  const Committable first = Prepare(*sink, {1, 1}, Rows({{kAdd, "a", 1}}));
  sink_contract::ExpectCommitted(committer->Commit({1, 1}, std::span(&first, 1)));
  const int slot = RedisSlotOf("acct:a");
  const std::string ledger = RedisLedger::Of(context_).of_slot(slot);
  EXPECT_EQ(cluster.server(slot < kRedisSlots / 2 ? 0 : 1).Ask({"DEL", ledger}), "1");
  const Committable second = Prepare(*sink, {1, 2}, Rows({{kAdd, "a", 2}}));
  const CommitResult lost = committer->Commit({1, 2}, std::span(&second, 1));
  EXPECT_EQ(lost.outcome, CommitOutcome::kRefused);
  EXPECT_THAT(lost.status.ToString(), HasSubstr("is at epoch 0-0 and was at 1-1"));
  EXPECT_THAT(lost.status.hint(), HasSubstr("HSET '" + ledger + "' generation 1 number 1 complete 1"));
}

TEST_F(RedisClusterTest, AFailoverIsAStall) {
  RedisCluster cluster(folder_, 3, true);
  Table table = ClusterTable(cluster);
  table.options["caudal.wait-replicas"] = "1";
  const auto sink = MakeSink(table);
  const auto committer = sink->MakeCommitter().value();
  int stalls = 0;
  const auto write = [&](int64_t number) {
    const Committable rows = Prepare(*sink, {1, number}, Rows(Accounts(300, number)));
    return UntilKnown(*committer, {1, number}, rows, &stalls);
  };
  for (int64_t number = 1; number <= 10; ++number) sink_contract::ExpectCommitted(write(number));
  EXPECT_EQ(stalls, 0);
  cluster.server(1).Kill();
  table.options.erase("caudal.wait-replicas");  // the new master has no replica of its own
  const auto after = MakeSink(table);
  const auto goes_on = after->MakeCommitter().value();
  for (int64_t number = 11; number <= 15; ++number) {
    const Committable rows = Prepare(*after, {1, number}, Rows(Accounts(300, number)));
    sink_contract::ExpectCommitted(UntilKnown(*goes_on, {1, number}, rows, &stalls));
  }
  EXPECT_GT(stalls, 0);
  const std::string contents =
      cluster.server(0).Contents() + cluster.server(2).Contents() + cluster.server(4).Contents();
  for (int i = 0; i < 300; ++i) {
    EXPECT_THAT(contents,
                HasSubstr("acct:k" + std::to_string(i) + "={account=k" + std::to_string(i) + " n=15}"));
  }
}

// The commands that docs/connectors/redis.md lists, those for clusters among them.
TEST_F(RedisClusterTest, AUserNeedsNoMoreRights) {
  RedisCluster cluster(folder_, 2);
  for (int i = 0; i < 2; ++i) {
    cluster.server(i).Ask(
        {"ACL",    "SETUSER", "bank",  "on",      ">sesame1", "~acct:*",  "~caudal:ledger:*",
         "-@all",  "+auth",   "+info", "+script", "+evalsha", "+hmget",   "+hset",
         "+hdel",  "+set",    "+del",  "+pttl",   "+pexpire", "+persist", "+cluster|slots",
         "+asking"});
  }
  Table table = ClusterTable(cluster);
  table.options["username"] = "bank";
  table.options["password"] = "sesame1";
  const auto sink = MakeSink(table);
  EXPECT_TRUE(sink->CheckTarget().ok()) << sink->CheckTarget().ToString();
  Write(*sink, {1, 1}, Accounts(50, 1));
  const int slot = RedisSlotOf("acct:k7"), to = 1 - cluster.OwnerOf(slot);
  cluster.BeginMove(slot, to);
  cluster.MoveKeys(slot, to);
  Write(*sink, {1, 2}, Accounts(50, 2));  // ASK
  EXPECT_EQ(CountOf(cluster, 2), 50);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cluster.server(i).Ask({"ACL", "LOG"}), "");
}

TEST_F(RedisClusterTest, AServerOfItsOwnIsNoCluster) {
  const int port = RedisProcess::FreePort();
  RedisServer single(folder_ / "single", {"--port", std::to_string(port)});
  Table table = FeaturesTable();
  table.options.erase("url");
  table.options["cluster-nodes"] = "127.0.0.1:" + std::to_string(port);
  const Status refused = MakeSink(table)->CheckTarget();
  EXPECT_EQ(refused.domain(), Domain::kUser);
  EXPECT_THAT(refused.ToString(), HasSubstr("runs as 'standalone', and the table wants 'cluster'"));
}

}  // namespace
}  // namespace caudal
