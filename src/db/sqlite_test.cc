#include "db/sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "db/sqlite_transaction.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;

class SqliteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("caudal-sqlite-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "test.db";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Sqlite> Create(int busy_millis = 0) {
    Result<std::unique_ptr<Sqlite>> opened = Sqlite::Open(path_, Sqlite::Mode::kCreate, busy_millis);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return std::move(opened).value();
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(SqliteTest, ANameInDoubleQuotesIsNeverAText) {
  auto database = Create();
  ASSERT_TRUE(database->Execute("CREATE TABLE t (a)").ok());
  const Status read = database->Prepare("SELECT \"nope\" FROM t").status();
  EXPECT_EQ(read.domain(), Domain::kUser);
  EXPECT_THAT(read.message(), HasSubstr("no such column: nope"));
  EXPECT_FALSE(database->Execute("CREATE TABLE u (a CHECK (a <> \"nope\"))").ok());
}

TEST_F(SqliteTest, KeepsEachStorageClass) {
  auto database = Create();
  ASSERT_TRUE(database->Execute("CREATE TABLE t (i, r, s, b, n)").ok());
  {
    auto insert = database->Prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?)");
    ASSERT_TRUE(insert.ok());
    insert->BindInteger(0, -9223372036854775807 - 1);
    insert->BindReal(1, 0.25);
    insert->BindText(2, std::string_view("a\0b", 3));
    insert->BindBlob(3, "");
    insert->BindNull(4);
    ASSERT_TRUE(insert->Run().ok());
    EXPECT_EQ(database->changes(), 1);
  }
  auto select = database->Prepare("SELECT * FROM t");
  ASSERT_TRUE(select.ok());
  ASSERT_TRUE(*select->Step());
  EXPECT_EQ(select->column_count(), 5);
  EXPECT_EQ(select->integer(0), -9223372036854775807 - 1);
  EXPECT_EQ(select->real(1), 0.25);
  EXPECT_EQ(select->text(2), std::string_view("a\0b", 3));
  EXPECT_EQ(select->storage(3), SqliteStatement::Storage::kBlob);
  EXPECT_EQ(select->storage(4), SqliteStatement::Storage::kNull);
  EXPECT_FALSE(*select->Step());
}

TEST_F(SqliteTest, RollsBackWithoutCommit) {
  auto database = Create();
  ASSERT_TRUE(database->Execute("CREATE TABLE t (i)").ok());
  {
    SqliteTransaction transaction(database.get());
    ASSERT_TRUE(transaction.Begin().ok());
    ASSERT_TRUE(database->Execute("INSERT INTO t VALUES (1)").ok());
  }
  EXPECT_EQ(*database->QueryInteger("SELECT count(*) FROM t", -1), 0);
  SqliteTransaction transaction(database.get());
  ASSERT_TRUE(transaction.Begin().ok());
  ASSERT_TRUE(database->Execute("INSERT INTO t VALUES (1)").ok());
  ASSERT_TRUE(transaction.Commit().ok());
  EXPECT_EQ(*database->QueryInteger("SELECT count(*) FROM t", -1), 1);
}

TEST_F(SqliteTest, ALockHeldElsewhereMayBeTriedAgain) {
  auto first = Create();
  auto second = Create();
  ASSERT_TRUE(first->Execute("CREATE TABLE t (i)").ok());
  SqliteTransaction holder(first.get());
  ASSERT_TRUE(holder.Begin().ok());
  SqliteTransaction waiter(second.get());
  const Status status = waiter.Begin();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.domain(), Domain::kExternal);
  EXPECT_EQ(status.retry(), Retry::kBackoff);
}

TEST_F(SqliteTest, SaysWhoseFaultItIs) {
  auto database = Create();
  EXPECT_EQ(database->Prepare("SELECT * FROM nowhere").status().domain(), Domain::kUser);
  EXPECT_EQ(database->Prepare("").status().domain(), Domain::kUser);
  ASSERT_TRUE(database->Execute("CREATE TABLE t (i INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)").ok());
  EXPECT_EQ(database->Execute("INSERT INTO t VALUES (1)").domain(), Domain::kData);
  EXPECT_EQ(Sqlite::Open(folder_ / "none.db", Sqlite::Mode::kReadOnly).status().domain(), Domain::kExternal);
  std::ofstream(folder_ / "text.db") << std::string(4096, 'x');
  auto foreign = Sqlite::Open(folder_ / "text.db", Sqlite::Mode::kReadOnly);
  ASSERT_TRUE(foreign.ok());  // SQLite looks at the file when it first reads it
  const Status status = (*foreign)->Execute("SELECT * FROM sqlite_master");
  EXPECT_EQ(status.domain(), Domain::kData);
  EXPECT_THAT(status.ToString(), HasSubstr("text.db"));
}

// What a writer leaves that was killed between its pages and its commit: the file and a journal.
TEST_F(SqliteTest, WhatAKilledWriterBeganIsUndoneForWhoOnlyReads) {
  const std::string left = folder_ / "left.db";
  auto database = Create();
  ASSERT_TRUE(
      database->Execute("CREATE TABLE t (a); INSERT INTO t VALUES ('kept'); PRAGMA cache_size = 1").ok());
  ASSERT_TRUE(
      database
          ->Execute("BEGIN; UPDATE t SET a = 'begun'; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                    "SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT hex(randomblob(100)) FROM n")
          .ok());
  std::filesystem::copy(path_, left);
  std::filesystem::copy(path_ + "-journal", left + "-journal");
  ASSERT_TRUE(database->Execute("ROLLBACK").ok());
  const auto reader = Sqlite::Open(left, Sqlite::Mode::kReadOnly);
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  const Result<int64_t> kept = (*reader)->QueryInteger("SELECT COUNT(*) FROM t WHERE a = 'kept'", 0);
  ASSERT_TRUE(kept.ok()) << kept.status().ToString();
  EXPECT_EQ(*kept, 1);
}

TEST(QuoteSqliteName, DoublesQuotes) { EXPECT_EQ(QuoteSqliteName("a\"b c"), "\"a\"\"b c\""); }

}  // namespace
}  // namespace caudal
