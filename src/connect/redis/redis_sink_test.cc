// The sink against a real redis-server, which the tests start; skipped where none is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "connect/redis/redis_script.h"
#include "connect/redis/testing/redis_sink_fixture.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(RedisSinkTest, FoldsAnEpochByKeyAndCountsItsRows) {
  const auto sink = MakeSink(FeaturesTable());
  const Committable first =
      Prepare(*sink, {1, 1},
              Rows({{kAdd, "a", 1}, {kAdd, "b", 1}, {kChange, "a", 2}, {kRemove, "b", 1}, {kAdd, "c", 7}}));
  EXPECT_EQ(first.rows_added, 4);
  EXPECT_EQ(first.rows_removed, 1);
  EXPECT_EQ(server_->Contents(), "");  // nothing before the commit
  sink_contract::ExpectCommitted(Commit(*sink, {1, 1}, first));
  EXPECT_EQ(server_->Contents(), "acct:a={account=a n=2} acct:c={account=c n=7} ");
  Write(*sink, {1, 2}, {{kRemove, "a", 2}, {kChange, "c", 8}});
  EXPECT_EQ(server_->Contents(), "acct:c={account=c n=8} ");
}

TEST_F(RedisSinkTest, KeepsTheContractOfSinks) {
  int targets = 0;
  const int cut_short = CheckSinkContract([&] {
    const auto folder = folder_ / std::to_string(targets++);
    servers_.push_back(std::make_unique<RedisServer>(folder, std::vector<std::string>()));
    Table table = FeaturesTable();
    table.options["url"] = "unix://" + servers_.back()->socket();
    return ContractOf(table, folder, [server = servers_.back().get()] { return server->Contents(); });
  });
  // A process dies, or hears nothing: once when it connects, at three sends and receives, before the last
  // batch.
  EXPECT_EQ(cut_short, 2 * (1 + 3 + 3 + 1));
}

// Wherever a process dies, the next one finishes the epoch, and rows of no other are seen.
TEST_F(RedisSinkTest, AnEpochThatWasCutShortIsFinished) {
  const auto sink = MakeSink(FeaturesTable());
  SinkUnderTest test;
  test.open = [this](int64_t) { return connector_.MakeSink(FeaturesTable(), context_); };
  const std::string counted =
      "local counts, text = {}, ''\n"
      "for _, key in ipairs(redis.call('KEYS', 'acct:*')) do\n"
      "  local n = redis.call('HGET', key, 'n')\n"
      "  counts[n] = (counts[n] or 0) + 1\n"
      "end\n"
      "for n, count in pairs(counts) do text = text .. n .. ': ' .. count .. ' rows ' end\n"
      "return text";
  int cut_short = 0, halves = 0;
  int64_t number = 0;
  for (const FaultPoint point :
       {FaultPoint::network_send, FaultPoint::network_receive, FaultPoint::database_commit}) {
    for (int64_t pass = 1; pass <= 12; ++pass) {
      std::vector<TestRow> rows;
      for (int i = 0; i < 900; ++i) rows.push_back({kAdd, "k" + std::to_string(i), number + 1});
      const std::vector<Committable> prepared = {Prepare(*sink, {1, ++number}, Rows(rows))};
      cut_short += sink_contract::CommitAndDie(test, {1, number}, prepared, point, pass);
      const std::string half = server_->Ask({"EVAL", counted, "0"});
      halves += std::count(half.begin(), half.end(), ':') == 2;
      sink_contract::ExpectCommitted(Commit(*sink, {1, number}, prepared[0]));
      EXPECT_EQ(server_->Ask({"EVAL", counted, "0"}), std::to_string(number) + ": 900 rows ");
    }
  }
  // At eight sends, at one receive at least for all batches after the three before them, before the last
  // batch.
  EXPECT_GE(cut_short, 8 + 4 + 1);
  EXPECT_GE(halves, 2) << "some died between the batches";
}

TEST_F(RedisSinkTest, ARepeatedAnOlderAndAZombieCommitChangeNothing) {
  const auto sink = MakeSink(FeaturesTable());
  const Committable first = Prepare(*sink, {1, 1}, Rows({{kAdd, "a", 1}}));
  const Committable zombie = Prepare(*sink, {1, 9}, Rows({{kAdd, "zombie", 1}}));
  sink_contract::ExpectCommitted(Commit(*sink, {1, 1}, first));
  sink_contract::ExpectCommitted(Commit(*sink, {1, 1}, first));
  Write(*sink, {2, 2}, {{kAdd, "a", 2}});
  sink_contract::ExpectCommitted(Commit(*sink, {1, 1}, first));
  sink_contract::ExpectCommitted(Commit(*sink, {1, 9}, zombie));
  EXPECT_EQ(server_->Contents(), "acct:a={account=a n=2} ");
  EXPECT_EQ(*(*sink->MakeCommitter())->LastCommitted(), (Epoch{2, 2}));
  EXPECT_EQ(server_->Ask({"HMGET", "caudal:ledger:bank/features@0123:features/sink/1", "generation", "number",
                          "complete"}),
            "2\n2\n1");
}

TEST_F(RedisSinkTest, TheLedgerTellsEverySinkFromEveryOther) {
  int number = 0;
  for (const auto& [identity, sink_id, ephemeral] :
       {std::tuple("0123", "features/sink/1", false), std::tuple("0123", "features/sink/2", false),
        std::tuple("4567", "features/sink/1", false), std::tuple("89ab", "features/sink/1", true)}) {
    context_.identity = identity;
    context_.sink = sink_id;
    context_.ephemeral = ephemeral;
    Write(*MakeSink(FeaturesTable()), {1, 1}, {{kAdd, "a" + std::to_string(++number), 1}});
  }
  const std::string contents = server_->Contents();
  EXPECT_EQ(std::count(contents.begin(), contents.end(), '{'), 4);
  EXPECT_EQ(server_->Ask({"DBSIZE"}), "7");  // what nothing goes on with leaves no ledger
}

// Two processes repeat the same epoch, each cut off in the middle of the other.
TEST_F(RedisSinkTest, NoTwoAttemptsLeaveAHoleBetweenThem) {
  RedisTarget target = *RedisTarget::Of(FeaturesTable());
  auto connection = RedisConnection::Open(&target);
  ASSERT_TRUE(connection.ok());
  const std::string script =
      (*connection)->Call(RedisCommand().Add("SCRIPT").Add("LOAD").Add(kRedisCommitScript))->text;
  const auto batch = [&](std::string_view attempt, int64_t number, bool last, std::string_view key) {
    RedisCommand command;
    command.Add("EVALSHA").Add(std::string_view(script)).Add(int64_t{2}).Add("ledger").Add(key);
    command.Add(int64_t{1}).Add(int64_t{1}).Add(attempt).Add(number).Add(int64_t{last}).Add(int64_t{0});
    command.Add(int64_t{0}).Add(int64_t{0}).Add("S").Add("1");
    return (*connection)->Call(command)->list[0].text;
  };
  EXPECT_EQ(batch("one", 1, false, "a"), "ok");
  EXPECT_EQ(batch("two", 2, true, "c"), "gap");  // 'two' cuts its batches elsewhere
  EXPECT_EQ(batch("two", 1, false, "a"), "ok");
  EXPECT_EQ(batch("one", 2, true, "b"), "gap");
  EXPECT_EQ(batch("two", 3, true, "c"), "gap");
  EXPECT_EQ(batch("two", 2, true, "b"), "ok");
  EXPECT_EQ(batch("one", 1, false, "a"), "done");
}

// KF-54.
TEST_F(RedisSinkTest, NullsTakeTheirFieldsAwayAndOtherFieldsStay) {
  const auto sink = MakeSink(FeaturesTable());
  Write(*sink, {1, 1}, {{kAdd, "a", 1}});
  EXPECT_EQ(server_->Ask({"HSET", "acct:a", "note", "by hand"}), "1");
  Write(*sink, {1, 2}, {{kChange, "a", std::nullopt}});
  EXPECT_EQ(server_->Contents(), "acct:a={account=a note=by hand} ");
  Write(*sink, {1, 3}, {{kRemove, "a", std::nullopt}});
  EXPECT_EQ(server_->Contents(), "");
}

TEST_F(RedisSinkTest, StringsHoldTheOneValue) {
  Table table = FeaturesTable();
  table.options["caudal.value-format"] = "string";
  const auto sink = MakeSink(table);
  Write(*sink, {1, 1}, {{kAdd, "a", 1}, {kAdd, "", 2}});
  EXPECT_EQ(server_->Contents(), "acct:=2 acct:a=1 ");
  Write(*sink, {1, 2}, {{kChange, "a", std::nullopt}, {kRemove, "", 2}});
  EXPECT_EQ(server_->Contents(), "");  // a NULL is no value
}

TEST_F(RedisSinkTest, KeysLiveAsLongAsTheyAreToldAfterEachWrite) {
  for (const char* format : {"hash", "string", "json"}) {
    Table table = FeaturesTable();
    context_.identity = format;
    table.options["caudal.value-format"] = format;
    table.options["caudal.ttl"] = "1 h";
    const auto sink = MakeSink(table);
    Write(*sink, {1, 1}, {{kAdd, "a", 1}});
    EXPECT_GT(std::stoll(server_->Ask({"PTTL", "acct:a"})), 3'500'000);
    EXPECT_EQ(server_->Ask({"PEXPIRE", "acct:a", "60000"}), "1");
    Write(*sink, {1, 2}, {{kChange, "a", 2}});
    EXPECT_GT(std::stoll(server_->Ask({"PTTL", "acct:a"})), 3'500'000);
    // Without the option a key stays, whatever was said before.
    table.options.erase("caudal.ttl");
    Write(*MakeSink(table), {1, 3}, {{kChange, "a", 3}});
    EXPECT_EQ(server_->Ask({"PTTL", "acct:a"}), "-1");
    EXPECT_EQ(server_->Ask({"PTTL", "caudal:ledger:bank/features@" + context_.identity + ":features/sink/1"}),
              "-1");
    server_->Ask({"DEL", "acct:a"});
  }
}

// A row that changes every second costs the server a command and not two.
TEST_F(RedisSinkTest, HowLongAHashLivesIsSaidAgainOnlyWhenItShows) {
  Table table = FeaturesTable();
  table.options["caudal.ttl"] = "1 h";
  const auto sink = MakeSink(table);
  const auto calls = [&] {
    const std::string told = server_->Ask({"INFO", "commandstats"}), before = "cmdstat_pexpire:calls=";
    const size_t at = told.find(before);
    return at == std::string::npos ? 0 : std::stoll(told.substr(at + before.size()));
  };
  for (int64_t n = 1; n <= 5; ++n) Write(*sink, {1, n}, {{kAdd, "a", n}});
  EXPECT_EQ(calls(), 1);
  for (const char* left : {"3500000", "7200000"}) {  // a 64th has gone; longer than the table says now
    server_->Ask({"PEXPIRE", "acct:a", left});
    const int64_t before = calls();
    Write(*sink, {2, std::stoll(left)}, {{kChange, "a", 1}});
    EXPECT_EQ(calls(), before + 1) << left;
    EXPECT_GT(std::stoll(server_->Ask({"PTTL", "acct:a"})), 3'590'000);
    EXPECT_LE(std::stoll(server_->Ask({"PTTL", "acct:a"})), 3'600'000);
  }
}

TEST_F(RedisSinkTest, ChoosesTheDatabase) {
  Write(*MakeSink(FeaturesTable(3)), {1, 1}, {{kAdd, "a", 1}});
  EXPECT_EQ(server_->Ask({"DBSIZE"}), "0");
  const Status none = Commit(*MakeSink(FeaturesTable(99)), {1, 1}, {}).status;
  EXPECT_EQ(none.domain(), Domain::kUser);
  EXPECT_THAT(none.ToString(), HasSubstr("DB index is out of range"));
}

// KF-55: each answer is looked at.
TEST_F(RedisSinkTest, AKeyOfAnotherTypeStopsAndIsNamed) {
  server_->Ask({"RPUSH", "acct:b", "list"});
  const auto sink = MakeSink(FeaturesTable());
  std::vector<TestRow> rows = {{kAdd, "a", 1}, {kAdd, "b", 1}, {kAdd, "c", 1}};
  for (int i = 0; i < 900; ++i) rows.push_back({kAdd, "x" + std::to_string(i), 1});
  const Committable committable = Prepare(*sink, {1, 1}, Rows(rows));
  const CommitResult refused = Commit(*sink, {1, 1}, committable);
  EXPECT_EQ(refused.outcome, CommitOutcome::kRefused);
  EXPECT_EQ(refused.status.domain(), Domain::kData);
  EXPECT_THAT(refused.status.ToString(), HasSubstr("WRONGTYPE"));
  EXPECT_THAT(refused.status.ToString(), HasSubstr("key 'acct:b'"));
  EXPECT_THAT(refused.status.ToString(), HasSubstr("redis.sock"));
  EXPECT_THAT(refused.status.hint(), HasSubstr("remove it"));
  server_->Ask({"DEL", "acct:b"});  // as the hint says, then the query is started again
  sink_contract::ExpectCommitted(Commit(*sink, {1, 1}, committable));
  const std::string contents = server_->Contents();
  EXPECT_EQ(std::count(contents.begin(), contents.end(), '{'), 903);
}

TEST_F(RedisSinkTest, AnOutageIsNoAnswerAndLosesNothing) {
  Table table = FeaturesTable();
  table.options["caudal.answer-timeout"] = "100 ms";
  const auto sink = MakeSink(table);
  const std::unique_ptr<SinkCommitter> committer = sink->MakeCommitter().value();
  const auto commit = [&](Epoch epoch, const Committable& rows) {
    return committer->Commit(epoch, std::span(&rows, 1));
  };
  const Committable first = Prepare(*sink, {1, 1}, Rows({{kAdd, "a", 1}}));
  const auto expect_unknown = [&](std::string_view word) {
    const CommitResult result = commit({1, 1}, first);
    EXPECT_EQ(result.outcome, CommitOutcome::kUnknown);
    EXPECT_EQ(result.status.retry(), Retry::kBackoff);
    EXPECT_THAT(result.status.ToString(), HasSubstr(std::string(word)));
    EXPECT_THAT(result.status.ToString(), HasSubstr("redis.sock"));
  };
  server_->Pause();
  expect_unknown("no answer in time");
  server_->Continue();
  server_->Ask({"CONFIG", "SET", "maxmemory", "1"});
  expect_unknown("OOM");
  server_->Ask({"CONFIG", "SET", "maxmemory", "0"});
  server_->Ask({"REPLICAOF", "127.0.0.1", "1"});
  expect_unknown("the server is a replica");
  server_->Ask({"REPLICAOF", "NO", "ONE"});
  server_->Kill();
  expect_unknown("redis.sock");
  EXPECT_TRUE(sink->CheckTarget().ok());  // whether a target answers is not asked before the start
  server_->Start();
  sink_contract::ExpectCommitted(commit({1, 1}, first));
  EXPECT_EQ(server_->Contents(), "acct:a={account=a n=1} ");
  server_->Ask({"SCRIPT", "FLUSH"});
  const Committable second = Prepare(*sink, {1, 2}, Rows({{kAdd, "b", 1}}));
  EXPECT_EQ(commit({1, 2}, second).outcome, CommitOutcome::kUnknown);  // NOSCRIPT
  sink_contract::ExpectCommitted(commit({1, 2}, second));
}

TEST_F(RedisSinkTest, AServerThatHasLostAnEpochIsFoundOut) {
  const auto sink = MakeSink(FeaturesTable());
  const std::unique_ptr<SinkCommitter> committer = sink->MakeCommitter().value();
  const Committable first = Prepare(*sink, {1, 1}, Rows({{kAdd, "a", 1}}));
  sink_contract::ExpectCommitted(committer->Commit({1, 1}, std::span(&first, 1)));
  const Committable second = Prepare(*sink, {1, 2}, Rows({{kAdd, "b", 1}}));
  server_->Kill();  // nothing of it is on disk
  server_->Start();
  EXPECT_EQ(committer->Commit({1, 2}, std::span(&second, 1)).outcome, CommitOutcome::kUnknown);  // cut off
  // The process that saw it, and one that is started later.
  for (const CommitResult& result : {committer->Commit({1, 2}, std::span(&second, 1)),
                                     Commit(*MakeSink(FeaturesTable()), {1, 2}, second)}) {
    EXPECT_EQ(result.outcome, CommitOutcome::kRefused);
    EXPECT_EQ(result.status.domain(), Domain::kData);
    EXPECT_THAT(result.status.ToString(), HasSubstr("lost what it had acknowledged"));
    EXPECT_THAT(result.status.ToString(), HasSubstr("is at epoch 0-0 and was at 1-1"));
    EXPECT_THAT(result.status.hint(), HasSubstr("appendfsync always"));
  }
  EXPECT_EQ(server_->Contents(), "");
  // As the hint says for who goes on without them.
  server_->Ask({"HSET", "caudal:ledger:bank/features@0123:features/sink/1", "generation", "1", "number", "1",
                "complete", "1"});
  sink_contract::ExpectCommitted(Commit(*MakeSink(FeaturesTable()), {1, 2}, second));
  EXPECT_EQ(server_->Contents(), "acct:b={account=b n=1} ");
}

TEST_F(RedisSinkTest, AServerThatHasLostTheLastEpochIsFoundOut) {
  const auto sink = MakeSink(FeaturesTable());
  const Committable rows = Prepare(*sink, {1, 1}, Rows({{kAdd, "a", 1}}));
  sink_contract::ExpectCommitted(Commit(*sink, {1, 1}, rows));
  server_->Ask({"FLUSHALL"});
  const CommitResult lost = Commit(*MakeSink(FeaturesTable()), {1, 1}, rows);  // as a start repeats it
  EXPECT_EQ(lost.outcome, CommitOutcome::kLost);
  EXPECT_THAT(lost.status.hint(), HasSubstr("the server's ledger is at epoch 0-0"));
  EXPECT_THAT(lost.status.hint(), HasSubstr("generation 1 number 1 complete 1"));
}

// For a moment the name leads to a replica that is behind: that is an outage, and nothing is lost.
TEST_F(RedisSinkTest, AReplicaThatIsBehindIsNoLoss) {
  const auto sink = MakeSink(FeaturesTable());
  Write(*sink, {1, 1}, {{kAdd, "a", 1}});
  const Committable second = Prepare(*sink, {1, 2}, Rows({{kAdd, "b", 1}}));
  server_->Ask({"FLUSHALL"});
  server_->Ask({"REPLICAOF", "127.0.0.1", "1"});
  for (const CommitResult& result :
       {Commit(*sink, {1, 2}, second), Commit(*MakeSink(FeaturesTable()), {1, 2}, second)}) {
    EXPECT_EQ(result.outcome, CommitOutcome::kUnknown);
    EXPECT_EQ(result.status.retry(), Retry::kBackoff);
    EXPECT_THAT(result.status.ToString(), HasSubstr("the server is a replica"));
  }
  EXPECT_TRUE(sink->CheckTarget().ok());
  server_->Ask({"REPLICAOF", "NO", "ONE"});
  EXPECT_THAT(Commit(*sink, {1, 2}, second).status.ToString(), HasSubstr("lost what it had acknowledged"));
}

// A proxy that answers for a server that is away.
TEST_F(RedisSinkTest, OtherWordsThanAServersAreAnOutageLater) {
  RedisTarget target = *RedisTarget::Of(FeaturesTable());
  server_->Kill();
  std::filesystem::remove(server_->socket());
  const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  server_->socket().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  for (const bool met : {false, true}) {
    target.met = met;
    std::thread proxy([&] {
      const int peer = accept(listening, nullptr, nullptr);
      send(peer, "HTTP/1.1 502 Bad Gateway\r\n", 26, MSG_NOSIGNAL);
      char byte;
      recv(peer, &byte, 1, 0);
      close(peer);
    });
    const Status status = RedisConnection::Open(&target).status();
    proxy.join();
    EXPECT_THAT(status.ToString(), HasSubstr("no Redis server"));
    EXPECT_EQ(status.domain(), met ? Domain::kExternal : Domain::kUser);
  }
  close(listening);
}

TEST_F(RedisSinkTest, AnotherServerThanTheRowsWereForIsRefused) {
  const auto sink = MakeSink(FeaturesTable());
  const Committable rows = Prepare(*sink, {1, 1}, Rows({{kAdd, "a", 1}}));
  const CommitResult refused = Commit(*MakeSink(FeaturesTable(1)), {1, 1}, rows);
  EXPECT_EQ(refused.outcome, CommitOutcome::kRefused);
  EXPECT_THAT(refused.status.ToString(), HasSubstr("were prepared for"));
}

TEST_F(RedisSinkTest, ALostOrDamagedSegmentIsSaid) {
  const auto sink = MakeSink(FeaturesTable());
  const Committable damaged = Prepare(*sink, {1, 1}, Rows({{kAdd, "a", 1}}));
  const std::string segment = context_.segment_dir + "/redis-features-1-1-0.segment";
  ASSERT_TRUE(std::filesystem::exists(segment));
  { std::fstream(segment, std::ios::in | std::ios::out).seekp(-1, std::ios::end).put('x'); }
  EXPECT_EQ(Commit(*sink, {1, 1}, damaged).outcome, CommitOutcome::kLost);
  ASSERT_TRUE((*sink->MakeCommitter())->RemoveLeftovers().ok());
  EXPECT_FALSE(std::filesystem::exists(segment));
  EXPECT_EQ(Commit(*sink, {1, 1}, damaged).outcome, CommitOutcome::kLost);
  EXPECT_EQ(server_->Contents(), "");
}

class RedisPasswordTest : public RedisSinkTest {
 protected:
  std::vector<std::string> ServerOptions() override {
    return {"--user", "default", "on", "nopass",   "~*",      "+@all",
            "--user", "bank",    "on", ">sesame1", "~acct:*", "+@all"};
  }
  Table WithUser(std::string_view user) {
    Table table = FeaturesTable();
    table.options["url"] = "unix://" + std::string(user) + "@" + server_->socket();
    return table;
  }
};

TEST_F(RedisPasswordTest, LogsInAndNeverShowsThePassword) {
  EXPECT_EQ(server_->Ask({"ACL", "SETUSER", "bank", "~caudal:ledger:*"}), "OK");
  Write(*MakeSink(WithUser("bank:sesame1")), {1, 1}, {{kAdd, "a", 1}});
  EXPECT_EQ(server_->Contents(), "acct:a={account=a n=1} ");
  const auto sink = MakeSink(WithUser("bank:sesame2"));
  const Status wrong = sink->CheckTarget();
  EXPECT_EQ(wrong.domain(), Domain::kUser);
  EXPECT_THAT(wrong.ToString(), HasSubstr("WRONGPASS"));
  EXPECT_THAT(wrong.ToString(), Not(HasSubstr("sesame")));
  const Committable rows = Prepare(*sink, {1, 2}, Rows({{kAdd, "b", 1}}));
  const CommitResult refused = Commit(*sink, {1, 2}, rows);
  EXPECT_EQ(refused.outcome, CommitOutcome::kRefused);
  EXPECT_THAT(refused.status.ToString() + rows.payload, Not(HasSubstr("sesame")));
}

TEST_F(RedisPasswordTest, RightsThatAreMissingAreSaid) {
  const auto sink = MakeSink(WithUser("bank:sesame1"));  // no right to the ledger's key
  const Committable rows = Prepare(*sink, {1, 1}, Rows({{kAdd, "b", 1}}));
  const CommitResult refused = Commit(*sink, {1, 1}, rows);
  EXPECT_EQ(refused.outcome, CommitOutcome::kRefused);
  EXPECT_THAT(refused.status.ToString(), HasSubstr("NOPERM"));
  EXPECT_THAT(refused.status.hint(), HasSubstr("caudal:ledger:*"));
  server_->Ask({"CONFIG", "SET", "requirepass", "sesame3"});
  const Status closed = MakeSink(FeaturesTable())->CheckTarget();
  EXPECT_EQ(closed.domain(), Domain::kUser);
  EXPECT_THAT(closed.ToString(), HasSubstr("NOAUTH"));
  EXPECT_THAT(closed.hint(), HasSubstr("'password'"));
}

// A user who may do what docs/connectors/redis.md lists, and nothing else.
class RedisRightsTest : public RedisSinkTest {
 protected:
  std::vector<std::string> ServerOptions() override {
    std::ifstream page(std::filesystem::path(__FILE__).parent_path() / "../../../docs/connectors/redis.md");
    std::stringstream text;
    text << page.rdbuf();
    std::string list = text.str();
    const size_t at = list.find("The user of an access list needs the commands");
    list = list.substr(at, list.find("on the table's keys", at) - at);
    std::vector<std::string> words = {"--user",           "default", "on", "nopass",   "~*",        "+@all",
                                      "--user",           "bank",    "on", ">sesame1", "resetkeys", "~acct:*",
                                      "~caudal:ledger:*", "-@all"};
    for (size_t open = 0; (open = list.find('`', open)) != std::string::npos;) {
      const size_t close = list.find('`', open + 1);
      words.push_back("+" + list.substr(open + 1, close - open - 1));
      open = close + 1;
    }
    EXPECT_GT(words.size(), 14u + 10u) << "the page lists the commands";
    return words;
  }
};

TEST_F(RedisRightsTest, WhatThePageListsIsEnough) {
  int number = 0;
  for (const char* format : {"hash", "string", "json"}) {
    for (const char* ttl : {"", "1 h"}) {
      Table table = FeaturesTable(++number);
      table.options["url"] = "unix://bank:sesame1@" + server_->socket() + "?db=" + std::to_string(number);
      table.options["caudal.value-format"] = format;
      if (*ttl != 0) table.options["caudal.ttl"] = ttl;
      const auto sink = MakeSink(table);
      EXPECT_TRUE(sink->CheckTarget().ok()) << sink->CheckTarget().ToString();
      Write(*sink, {1, 1}, {{kAdd, "a", 1}, {kAdd, "b", 1}});
      Write(*sink, {1, 2}, {{kChange, "a", std::nullopt}, {kRemove, "b", 1}});
    }
  }
  EXPECT_EQ(server_->Ask({"ACL", "LOG"}), "");  // nothing was denied, not even quietly
}

// Calls of the commit's script for an epoch of 2,500 rows on a server with these options.
class RedisBatchTest : public RedisSinkTest {
 protected:
  std::vector<std::string> ServerOptions() override {
    return {"--appendonly", "yes", "--appendfsync", fsync_};
  }
  int64_t Calls(const std::string& fsync) {
    server_.reset();
    fsync_ = fsync;
    server_ = std::make_unique<RedisServer>(folder_ / fsync, ServerOptions());
    std::vector<TestRow> rows;
    for (int i = 0; i < 2500; ++i) rows.push_back({kAdd, "k" + std::to_string(i), i});
    Write(*MakeSink(FeaturesTable()), {1, 1}, rows);
    EXPECT_EQ(server_->Ask({"DBSIZE"}), "2501");  // and the ledger
    const std::string told = server_->Ask({"INFO", "commandstats"}), before = "cmdstat_evalsha:calls=";
    return std::stoll(told.substr(told.find(before) + before.size()));
  }

  std::string fsync_ = "no";
};

TEST_F(RedisBatchTest, AreLongerWhereEachAnswerWaitsForADisk) {
  EXPECT_EQ(Calls("everysec"), 13);
  EXPECT_EQ(Calls("always"), 3);
}

class RedisClusterNodeTest : public RedisSinkTest {
 protected:
  std::vector<std::string> ServerOptions() override { return {"--cluster-enabled", "yes", "--port", "0"}; }
};

TEST_F(RedisClusterNodeTest, ANodeOfAClusterIsNoServerOfItsOwn) {
  const Status refused = MakeSink(FeaturesTable())->CheckTarget();
  EXPECT_EQ(refused.domain(), Domain::kUser);
  EXPECT_THAT(refused.ToString(), HasSubstr("runs as 'cluster', and the table wants 'standalone'"));
  EXPECT_THAT(refused.hint(), HasSubstr("'cluster-nodes'"));
}

}  // namespace
}  // namespace caudal
