#include "ops/ops_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "ops/ops_table.h"

namespace caudal {
namespace {

TEST(OpsTables, ProgressBeginsWithTheSixColumnsOfTheSloDocument) {
  const OpsTable& progress = FindOpsTable("streaming_progress");
  const char* const six[] = {"query_id",  "batch_id",      "observed_at",
                             "input_rps", "processed_rps", "progress_json"};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(progress.columns[i].name, six[i]);
  EXPECT_EQ(progress.columns[6].name, "sink");
}

TEST(OpsStore, KeepsRowsByKeyAndForgetsOldOnes) {
  const auto folder = std::filesystem::temp_directory_path() / ("caudal-ops-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  {
    auto store = OpsStore::Open(folder);
    ASSERT_TRUE(store.ok()) << store.status().ToString();
    const auto epoch = [](int64_t number, int64_t committed, int64_t rows) {
      OpsRow row("epochs");
      row.Text("bank/q")
          .Integer(1)
          .Integer(number)
          .Time(committed)
          .Integer(5)
          .Integer(rows)
          .Null()
          .Null()
          .Null();
      return row;
    };
    ASSERT_TRUE((*store)->Write({epoch(1, 1000, 10), epoch(2, 2000, 20), epoch(2, 2000, 21)}).ok());
    auto database = Sqlite::Open(OpsStore::PathIn(folder), Sqlite::Mode::kReadOnly);
    EXPECT_EQ(*(*database)->QueryInteger("SELECT sum(rows) FROM epochs", -1), 31);
    EXPECT_EQ(*(*database)->QueryInteger(
                  "SELECT count(*) FROM epochs WHERE committed_at = '1970-01-01 00:00:01.000'", -1),
              1);
    ASSERT_TRUE((*store)->Expire(1500).ok());
    EXPECT_EQ(*(*database)->QueryInteger("SELECT count(*) FROM epochs", -1), 1);
  }
  std::filesystem::remove_all(folder);
}

// Made when a row of progress was one of a query, not of a sink's path.
TEST(OpsStore, GivesAnOlderFileTheFormOfTodayAndKeepsItsRows) {
  const auto folder = std::filesystem::temp_directory_path() / ("caudal-ops-old-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  {
    auto old = Sqlite::Open(OpsStore::PathIn(folder), Sqlite::Mode::kCreate);
    ASSERT_TRUE(
        (*old)
            ->Execute(
                "CREATE TABLE streaming_progress (query_id TEXT, batch_id INTEGER, run_id TEXT, attempt "
                "INTEGER, PRIMARY KEY (query_id, run_id, batch_id, attempt)); "
                "INSERT INTO streaming_progress VALUES ('bank/q', 7, '1', 1)")
            .ok());
  }
  for (int twice = 0; twice < 2; ++twice) {
    auto store = OpsStore::Open(folder);
    ASSERT_TRUE(store.ok()) << store.status().ToString();
    std::vector<OpsRow> rows;
    for (const char* sink : {"silver", "features"}) {
      OpsRow& row = rows.emplace_back("streaming_progress");
      row.Text("bank/q").Integer(8).Null().Null().Null().Null().Text(sink).Text("1").Integer(1);
      for (size_t i = 9; i < FindOpsTable("streaming_progress").columns.size(); ++i) row.Null();
    }
    const Status written = (*store)->Write(rows);
    ASSERT_TRUE(written.ok()) << written.ToString();
  }
  auto database = Sqlite::Open(OpsStore::PathIn(folder), Sqlite::Mode::kReadOnly);
  EXPECT_EQ(*(*database)->QueryInteger("SELECT count(*) FROM streaming_progress", -1), 3);
  EXPECT_EQ(*(*database)->QueryInteger(
                "SELECT count(*) FROM streaming_progress WHERE batch_id = 7 AND sink IS NULL", -1),
            1);
  std::filesystem::remove_all(folder);
}

class OpsFile : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-ops-XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::unique_ptr<Sqlite> Raw() {
    auto database = Sqlite::Open(OpsStore::PathIn(folder_), Sqlite::Mode::kCreate);
    EXPECT_TRUE(database.ok()) << database.status().ToString();
    return std::move(database).value();
  }
  std::string folder_;
};

TEST_F(OpsFile, OfBeforeThereWereVersionsIsUpgraded) {
  // As it was before 'cpu_us' and the table of fates, with a row of history.
  ASSERT_TRUE(
      Raw()
          ->Execute("CREATE TABLE operators (query_id TEXT, operator TEXT, rows_in INTEGER, PRIMARY KEY "
                    "(query_id, operator)); INSERT INTO operators VALUES ('bank/q', 'q/scan/1', 7)")
          .ok());
  auto store = OpsStore::Open(folder_);
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  OpsRow row("operators");
  row.Text("bank/q").Text("q/sink").Text("Sink");
  for (size_t i = 3; i < FindOpsTable("operators").columns.size(); ++i) row.Integer(static_cast<int64_t>(i));
  const Status written = (*store)->Write({row});
  EXPECT_TRUE(written.ok()) << written.ToString();
  auto raw = Raw();
  EXPECT_EQ(*raw->QueryInteger("PRAGMA user_version", -1), OpsStore::kVersion);
  EXPECT_EQ(*raw->QueryInteger("SELECT rows_in FROM operators WHERE operator = 'q/scan/1'", -1), 7);
  EXPECT_EQ(*raw->QueryInteger("SELECT rows_in FROM operators WHERE label = 'Sink'", -1), 4);
  EXPECT_EQ(*raw->QueryInteger("SELECT count(*) FROM fates", -1), 0);
}

TEST_F(OpsFile, OfANewerCaudalIsRefusedByName) {
  ASSERT_TRUE(OpsStore::Open(folder_).ok());
  ASSERT_TRUE(Raw()->Execute("PRAGMA user_version = 9").ok());
  const Status refused = OpsStore::Open(folder_).status();
  EXPECT_EQ(refused.domain(), Domain::kUser);
  EXPECT_EQ(refused.message(), "operations store '" + OpsStore::PathIn(folder_) +
                                   "' is of version 9, and this caudal knows those up to 1");
  EXPECT_EQ(*Raw()->QueryInteger("PRAGMA user_version", -1), 9);
}

TEST(OpsTables, AreTablesOfCaudal) {
  const Table table = FindOpsTable("fates").AsTable("/data/ops.db");
  EXPECT_EQ(table.name, "ops.fates");
  EXPECT_EQ(table.option("table-name"), "fates");
  EXPECT_EQ(table.columns.size(), FindOpsTable("fates").columns.size());
}

}  // namespace
}  // namespace caudal
