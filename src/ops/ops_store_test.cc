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

TEST(OpsTables, AreTablesOfCaudal) {
  const Table table = FindOpsTable("fates").AsTable("/data/ops.db");
  EXPECT_EQ(table.name, "ops.fates");
  EXPECT_EQ(table.option("table-name"), "fates");
  EXPECT_EQ(table.columns.size(), FindOpsTable("fates").columns.size());
}

}  // namespace
}  // namespace caudal
