// RedisSinkTest: a sink of two columns, 'account' and 'n', and a redis-server of the test's own that it
// writes to; skipped where none is installed.
//
// Header only.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/testing/sink_contract.h"
#include "connect/redis/redis_connector.h"
#include "connect/redis/testing/redis_server.h"
#include "data/column_builder.h"

namespace caudal {

class NoRejects : public SinkRejects {
 public:
  void Reject(const Chunk&, RowSet, std::string message) override { ADD_FAILURE() << message; }
};

struct TestRow {
  RowKind kind;
  std::string account;
  std::optional<int64_t> n;
};

constexpr RowKind kAdd = RowKind::kInsert, kRemove = RowKind::kDelete, kChange = RowKind::kUpdateAfter;

class RedisSinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::Installed()) GTEST_SKIP() << "redis-server is not installed: run 'tools/setup test'";
    folder_ = std::filesystem::temp_directory_path() /
              ("caudal-redis-" + std::to_string(getpid()) +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    context_.env = Env::Real();
    context_.files = FileSystem::Local();
    context_.query = "bank/features";
    context_.identity = "0123";
    context_.sink = "features/sink/1";
    context_.segment_dir = folder_ / "segments";
    server_ = std::make_unique<RedisServer>(folder_, ServerOptions());
  }
  void TearDown() override {
    server_.reset();
    servers_.clear();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  virtual std::vector<std::string> ServerOptions() { return {}; }

  Table FeaturesTable(int database = 0) {
    Table table;
    table.name = "features";
    table.columns = {{"account", Type::String().WithNullable(false)}, {"n", Type(TypeId::kBigInt)}};
    table.primary_key = {0};
    table.options = {{"connector", "redis"},
                     {"url", "unix://" + server_->socket() + "?db=" + std::to_string(database)},
                     {"caudal.key", "acct:{account}"}};
    return table;
  }

  static Chunk Rows(const std::vector<TestRow>& rows) {
    ColumnBuilder accounts(Type::String().WithNullable(false)), numbers{Type(TypeId::kBigInt)};
    std::vector<RowKind> kinds;
    for (const TestRow& row : rows) {
      accounts.AppendString(row.account);
      row.n ? numbers.Append(*row.n) : numbers.AppendNull();
      kinds.push_back(row.kind);
    }
    return Chunk({accounts.Finish(), numbers.Finish()}, static_cast<int32_t>(rows.size()), nullptr,
                 std::make_shared<const std::vector<RowKind>>(kinds));
  }

  std::unique_ptr<Sink> MakeSink(const Table& table) {
    auto sink = connector_.MakeSink(table, context_);
    EXPECT_TRUE(sink.ok()) << sink.status().ToString();
    return std::move(sink).value();
  }
  static Committable Prepare(Sink& sink, Epoch epoch, const Chunk& rows) {
    auto writer = sink.MakeWriter(0);
    NoRejects rejects;
    EXPECT_TRUE((*writer)->Write(rows, rejects).ok());
    auto committable = (*(*writer)->Seal(epoch))->Prepare();
    EXPECT_TRUE(committable.ok()) << committable.status().ToString();
    return *committable;
  }
  static CommitResult Commit(Sink& sink, Epoch epoch, const Committable& committable) {
    return (*sink.MakeCommitter())->Commit(epoch, std::span(&committable, 1));  // each time as a new process
  }
  static void Write(Sink& sink, Epoch epoch, const std::vector<TestRow>& rows) {
    sink_contract::ExpectCommitted(Commit(sink, epoch, Prepare(sink, epoch, Rows(rows))));
  }

  // 500 rows an epoch, which are three batches, and two whose keys come and go.
  SinkUnderTest ContractOf(Table table, const std::filesystem::path& folder,
                           std::function<std::string()> contents) {
    SinkUnderTest test;
    test.rows = [](int64_t number) {
      std::vector<TestRow> all;
      for (int i = 0; i < 500; ++i) all.push_back({kAdd, "k" + std::to_string(i), number});
      all.push_back({kAdd, "a" + std::to_string(number), number});
      all.push_back({kRemove, "a" + std::to_string(number - 2), number - 2});
      return Rows(all);
    };
    test.open = [this, table = std::move(table), folder](int64_t generation) {
      ConnectorContext context = context_;
      context.segment_dir = folder / "segments";
      context.generation = generation;
      return connector_.MakeSink(table, context);
    };
    test.contents = std::move(contents);
    return test;
  }

  std::filesystem::path folder_;
  std::unique_ptr<RedisServer> server_;
  std::vector<std::unique_ptr<RedisServer>> servers_;  // others that a test starts
  RedisConnector connector_;
  ConnectorContext context_;
};

}  // namespace caudal
