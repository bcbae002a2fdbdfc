// Lookups in a real redis-server, which the tests start; skipped where none is installed.
#include "connect/redis/lookup/redis_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "api/lookup_node.h"
#include "connect/redis/redis_connector.h"
#include "connect/redis/testing/redis_server.h"
#include "data/column_view.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;

class RedisLookupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::Installed()) GTEST_SKIP() << "redis-server is not installed: run 'tools/setup test'";
    folder_ = std::filesystem::temp_directory_path() /
              ("caudal-lookup-" + std::to_string(getpid()) +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    server_ = std::make_unique<RedisServer>(folder_, std::vector<std::string>());
  }
  void TearDown() override {
    server_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  static TableColumn Declared(std::string name, Type type) {
    TableColumn column;
    column.name = std::move(name);
    column.type = std::move(type);
    return column;
  }
  Table Accounts(std::string_view format = "hash") {
    Table table;
    table.name = "accounts";
    table.columns = {Declared("id", Type(TypeId::kBigInt, false)), Declared("owner", Type::String()),
                     Declared("total", Type::Decimal(10, 2)), Declared("seen", Type::TimestampLtz(3))};
    table.primary_key = {0};
    table.options = {{"connector", "redis"},           {"url", "unix://" + server_->socket()},
                     {"caudal.key", "acct:{id}"},      {"connect.timeout", "1 s"},
                     {"caudal.answer-timeout", "1 s"}, {"caudal.value-format", std::string(format)}};
    return table;
  }
  static LookupRequest RequestFor(const Table& table, std::vector<int> columns) {
    LookupNode node;
    node.table = table;
    node.columns = std::move(columns);
    for (const int key : table.primary_key) node.keys.push_back({key, Expr()});
    return node.request();
  }
  static Chunk Ids(const std::vector<int64_t>& ids) {
    ColumnBuilder builder(Type(TypeId::kBigInt, false));
    for (const int64_t id : ids) builder.Append(id);
    return Chunk({builder.Finish()}, static_cast<int32_t>(ids.size()));
  }
  std::unique_ptr<LookupReader> Open(const Table& table, std::vector<int> columns) {
    auto reader = connector_.MakeLookup(table, RequestFor(table, std::move(columns)), {});
    EXPECT_TRUE(reader.ok()) << reader.status().ToString();
    return std::move(reader).value();
  }
  // "key: value value" a line, then what could not be read.
  static std::string Text(const Result<LookupRows>& rows) {
    if (!rows.ok()) return rows.status().ToString();
    std::string text;
    for (size_t i = 0; i < rows->key_of_row.size(); ++i) {
      text += std::to_string(rows->key_of_row[i]) + ":";
      for (const ColumnPtr& column : rows->columns) {
        const int32_t row = static_cast<int32_t>(i);
        if (column->IsNull(row)) {
          text += " NULL";
        } else if (column->type().is_string()) {
          text += " " + std::string(ColumnView<StringView>(*column)[row].view());
        } else {
          text += " " + std::to_string(ColumnView<int64_t>(*column)[row]);
        }
      }
      text += "\n";
    }
    for (const LookupRows::Unreadable& each : rows->unreadable) {
      text += "! " + std::to_string(each.key) + " " + each.message + "\n";
    }
    return text;
  }

  std::filesystem::path folder_;
  std::unique_ptr<RedisServer> server_;
  RedisConnector connector_;
};

TEST_F(RedisLookupTest, ReadsHashesAndKnowsAMissingKeyFromARowOfNulls) {
  server_->Ask({"HSET", "acct:1", "owner", "ann", "total", "12.5", "seen", "1970-01-01 00:00:02.000Z"});
  server_->Ask({"HSET", "acct:2", "other", "field"});
  server_->Ask({"HSET", "acct:4", "total", "7"});
  auto reader = Open(Accounts(), {0, 1, 2, 3});
  EXPECT_EQ(Text(reader->Find(Ids({1, 2, 3, 4}))),
            "0: 1 ann 1250 2000000\n1: 2 NULL NULL NULL\n3: 4 NULL 700 NULL\n");
  // The key alone is wanted.
  EXPECT_EQ(Text(Open(Accounts(), {0})->Find(Ids({1, 3}))), "0: 1\n");
  EXPECT_EQ(Text(Open(Accounts(), {})->Find(Ids({3, 4}))), "1:\n");
}

TEST_F(RedisLookupTest, NamesTheKeyAndTheColumnOfWhatCannotBeRead) {
  server_->Ask({"HSET", "acct:1", "owner", "ann", "total", "much"});
  server_->Ask({"HSET", "acct:2", "owner", "bob", "total", "3.00"});
  auto reader = Open(Accounts(), {1, 2});
  EXPECT_EQ(Text(reader->Find(Ids({1, 2}))),
            "0: ann NULL\n1: bob 300\n"
            "! 0 key 'acct:1': column 'total': 'much' is not a DECIMAL(10, 2)\n");
}

// A server keeps any bytes; a STRING is text.
TEST_F(RedisLookupTest, BytesThatAreNoTextAreAnErrorOfTheJoinedRow) {
  server_->Ask({"HSET", "acct:1", "owner", "a\xff"});
  server_->Ask({"HSET", "acct:2", "owner", "ann", "total", "\xc3"});
  server_->Ask({"SET", "acct:3", "{\"owner\": \"a\xff\"}"});
  server_->Ask({"SET", "acct:4", "{\"owner\": \"ann\"}"});
  server_->Ask({"SET", "acct:5", "\xed\xa0\x80"});
  EXPECT_EQ(Text(Open(Accounts(), {1, 2})->Find(Ids({1, 2}))),
            "0: NULL NULL\n1: ann NULL\n"
            "! 0 key 'acct:1': column 'owner': bytes that are not UTF-8 are not a STRING\n"
            "! 1 key 'acct:2': column 'total': bytes that are not UTF-8 are not a DECIMAL(10, 2)\n");
  EXPECT_EQ(Text(Open(Accounts("json"), {1})->Find(Ids({3, 4}))),
            "0: NULL\n1: ann\n! 0 key 'acct:3': the record is not JSON: it is not UTF-8\n");
  Table table = Accounts("string");
  table.columns.resize(2);
  EXPECT_EQ(Text(Open(table, {1})->Find(Ids({5}))),
            "0: NULL\n! 0 key 'acct:5': column 'owner': bytes that are not UTF-8 are not a STRING\n");
}

TEST_F(RedisLookupTest, ReadsJson) {
  server_->Ask({"SET", "acct:1", R"({"owner": "ann", "total": 1.25, "more": [1]})"});
  server_->Ask({"SET", "acct:2", "{"});
  server_->Ask({"SET", "acct:4", R"({"owner": null})"});
  auto reader = Open(Accounts("json"), {0, 1, 2});
  const std::string text = Text(reader->Find(Ids({4, 3, 1, 2})));
  EXPECT_THAT(text, HasSubstr("0: 4 NULL NULL\n2: 1 ann 125\n3: 2 NULL NULL\n! 3 key 'acct:2': "));
}

TEST_F(RedisLookupTest, ReadsTextsUnderAKeyOfSeveralColumns) {
  Table table = Accounts("string");
  table.columns = {Declared("user", Type::String().WithNullable(false)),
                   Declared("score", Type(TypeId::kBigInt)), Declared("item", Type(TypeId::kBigInt, false))};
  table.primary_key = {0, 2};
  table.options["caudal.key"] = "{user}:{item}";
  server_->Ask({"SET", "a%3Ab:7", "42"});
  LookupRequest request = RequestFor(table, {1, 0});
  request.keys = {2, 0};  // ON names them in another order
  auto reader = connector_.MakeLookup(table, request, {});
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  ColumnBuilder users(Type::String().WithNullable(false));
  users.AppendString("a:b");
  const Chunk keys({Ids({7}).column(0), users.Finish()}, 1);
  EXPECT_EQ(Text((*reader)->Find(keys)), "0: 42 a:b\n");
}

TEST_F(RedisLookupTest, WhoIsNotLetInHearsSoBeforeTheFirstRow) {
  EXPECT_TRUE(Open(Accounts(), {1})->CheckTarget().ok());
  server_->Ask({"CONFIG", "SET", "requirepass", "secret"});
  Table table = Accounts();
  const Status refused = Open(table, {1})->CheckTarget();
  EXPECT_EQ(refused.domain(), Domain::kUser);
  EXPECT_THAT(refused.ToString(), HasSubstr("NOAUTH"));
  table.options["url"] = "unix:///nowhere.sock";
  EXPECT_TRUE(Open(table, {1})->CheckTarget().ok());
}

TEST_F(RedisLookupTest, ManyKeysAreAskedForAtOnce) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < 4000; ++i) ids.push_back(i);
  for (int64_t i = 0; i < 4000; i += 2) server_->Ask({"HSET", "acct:" + std::to_string(i), "owner", "x"});
  const auto rows = Open(Accounts(), {1})->Find(Ids(ids));
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  ASSERT_EQ(rows->key_of_row.size(), 2000u);
  for (size_t i = 0; i < 2000; ++i) EXPECT_EQ(rows->key_of_row[i], static_cast<int32_t>(2 * i));
}

TEST_F(RedisLookupTest, AServerThatIsAwayIsAskedAgainAndWhatItRefusesIsNot) {
  server_->Ask({"HSET", "acct:1", "owner", "ann"});
  server_->Ask({"SET", "acct:2", "text"});
  auto reader = Open(Accounts(), {1});
  EXPECT_EQ(Text(reader->Find(Ids({1}))), "0: ann\n");
  const Status type = reader->Find(Ids({1, 2})).status();
  EXPECT_EQ(type.domain(), Domain::kData);
  EXPECT_EQ(type.retry(), Retry::kNo);
  EXPECT_THAT(type.ToString(), HasSubstr("key 'acct:2'"));

  server_->Pause();
  EXPECT_EQ(reader->Find(Ids({1})).status().retry(), Retry::kBackoff) << "no answer";
  server_->Continue();
  EXPECT_EQ(Text(reader->Find(Ids({1}))), "0: ann\n");
  server_->Kill();
  EXPECT_EQ(reader->Find(Ids({1})).status().retry(), Retry::kBackoff) << "no server";
  server_->Start();
  EXPECT_EQ(Text(reader->Find(Ids({1}))), "") << "it keeps nothing in this test";
  server_->Ask({"CONFIG", "SET", "requirepass", "secret"});
  const Status access = Open(Accounts(), {1})->Find(Ids({1})).status();
  EXPECT_EQ(access.domain(), Domain::kUser) << access.ToString();
}

}  // namespace
}  // namespace caudal
