// Compaction of tables that sinks write: the same rows, the same lineage, while others go on writing.
#include "connect/iceberg/compact/compact_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "api/testing/sink_contract.h"
#include "connect/iceberg/compact/rewrite_columns.h"
#include "connect/iceberg/iceberg_connector.h"
#include "connect/iceberg/iceberg_lake.h"
#include "connect/iceberg/scan/data_file_reader.h"
#include "connect/iceberg/testing/fresh_chance.h"
#include "data/column_builder.h"
#include "data/column_view.h"
#include "fs/local_file_system.h"
#include "iceberg/maintenance/table_check.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;

class CompactTableTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-compact-XXXXXX";
    folder_ = mkdtemp(name);
    table_.name = "t";
    table_.columns.resize(3);
    table_.columns[0] = Column("hour", Type(TypeId::kInt));
    table_.columns[1] = Column("id", Type(TypeId::kBigInt, false));
    table_.columns[2] = Column("s", Type::String());
    table_.primary_key = {1};
    table_.options = {{"connector", "iceberg"},         {"catalog-name", "lake"},
                      {"warehouse", folder_ + "/w"},    {"format-version", std::to_string(GetParam())},
                      {"caudal.partition-by", "hour"},  {"commit.retry.num-retries", "100"},
                      {"commit.retry.min-wait-ms", "1"}};
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static TableColumn Column(std::string name, Type type) {
    TableColumn made;
    made.name = std::move(name);
    made.type = std::move(type);
    return made;
  }

  // A process that upserts: of each id its text; hour is id modulo 3. An empty text deletes.
  class Upserter {
   public:
    explicit Upserter(CompactTableTest* test, int64_t generation = 1) : generation_(generation) {
      ConnectorContext context;
      context.query = "q";
      context.identity = "state";
      context.sink = "t/sink/1";
      context.generation = generation;
      context.env = &test->env_;
      context.files = FileSystem::Local();
      context.segment_dir = test->folder_ + "/state";
      std::filesystem::create_directories(context.segment_dir);
      sink_ = std::move(test->connector_.MakeSink(test->table_, context)).value();
      committer_ = std::move(sink_->MakeCommitter()).value();
      writer_ = std::move(sink_->MakeWriter(0)).value();
    }
    Status Put(const std::map<int64_t, std::string>& rows) {
      ColumnBuilder hour(Type(TypeId::kInt)), id(Type(TypeId::kBigInt, false)), s(Type::String());
      auto kinds = std::make_unique<std::vector<RowKind>>();
      for (const auto& [key, text] : rows) {
        hour.Append<int32_t>(static_cast<int32_t>(key % 3));
        id.Append<int64_t>(key);
        s.AppendString(text);
        kinds->push_back(text.empty() ? RowKind::kDelete : RowKind::kInsert);
      }
      const auto count = static_cast<int32_t>(rows.size());
      sink_contract::NoRejects rejects;
      RETURN_IF_ERROR(writer_->Write(
          Chunk({hour.Finish(), id.Finish(), s.Finish()}, count, nullptr, RowKindsPtr(std::move(kinds))),
          rejects));
      const Epoch epoch{generation_, ++epoch_};
      ASSIGN_OR_RETURN(const auto sealed, writer_->Seal(epoch));
      ASSIGN_OR_RETURN(const auto committable, sealed->Prepare());
      const CommitResult result = committer_->Commit(epoch, std::span(&committable, 1));
      return result.outcome == CommitOutcome::kCommitted ? Status() : result.status;
    }

   private:
    std::unique_ptr<Sink> sink_;
    std::unique_ptr<SinkCommitter> committer_;
    std::unique_ptr<SinkWriter> writer_;
    int64_t generation_, epoch_ = 0;
  };

  std::unique_ptr<IcebergLake> Lake() {
    return IcebergLake::Open(IcebergOptions::From(table_).value(), FileSystem::Local(), &env_).value();
  }
  Result<CompactionReport> Compact(int64_t min_input_files = 2, int threads = 1) {
    const auto lake = Lake();
    CompactTableOptions options;
    options.what.min_input_files = min_input_files;
    options.what.delete_ratio_threshold = 0.1;
    options.threads = threads;
    options.commit.attempts = 100;
    options.commit.wait = [](int64_t) { std::this_thread::yield(); };
    iceberg::HeadFiles known;
    CompactionReport report;
    RETURN_IF_ERROR(CompactTable(&lake->catalog(), lake->files(), IcebergOptions::From(table_)->name, &known,
                                 options, &report));
    return report;
  }

  struct Row {
    std::string text;
    int64_t row_id = -1, last_change = -1;
    bool operator==(const Row&) const = default;
  };
  // Every live row, by id; one that is there twice is an error.
  std::map<int64_t, Row> Rows() {
    const auto lake = Lake();
    const iceberg::LoadedTable loaded = lake->catalog().LoadTable(IcebergOptions::From(table_)->name).value();
    const iceberg::TableMetadata& metadata = loaded.metadata;
    const auto plan =
        iceberg::PlanScan(lake->files(), metadata, *metadata.FindSnapshot(*metadata.current_snapshot_id));
    EXPECT_TRUE(plan.ok()) << plan.status().ToString();
    const RewriteColumns columns = RewriteColumns::Of(metadata).value();
    std::map<int64_t, Row> rows;
    for (const iceberg::ScanFile& file : plan->files) {
      auto reader =
          DataFileReader::Open(FileSystem::Local(), metadata, *plan, file, columns.read, 0, 0).value();
      for (;;) {
        const FileRows read = std::move(reader->Next()).value();
        if (read.chunk.physical_rows() == 0) break;
        const RowSet live = read.chunk.rows();
        const ColumnView<int64_t> id(*read.chunk.column(1));
        const ColumnView<StringView> text(*read.chunk.column(2));
        for (int32_t i = 0; i < live.count; ++i) {
          Row row{std::string(text[live[i]].view())};
          if (metadata.format_version >= 3) {
            row.row_id = ColumnView<int64_t>(*read.chunk.column(3))[live[i]];
            row.last_change = ColumnView<int64_t>(*read.chunk.column(4))[live[i]];
          }
          EXPECT_TRUE(rows.emplace(id[live[i]], row).second) << "key " << id[live[i]] << " is there twice";
        }
      }
    }
    return rows;
  }
  std::map<int64_t, std::string> Texts() {
    std::map<int64_t, std::string> texts;
    for (const auto& [id, row] : Rows()) texts[id] = row.text;
    return texts;
  }
  void ExpectWhole() {
    const auto lake = Lake();
    const auto loaded = lake->catalog().LoadTable(IcebergOptions::From(table_)->name).value();
    const auto check = iceberg::CheckTable(lake->files(), loaded.metadata, {.all = true});
    ASSERT_TRUE(check.ok()) << check.status().ToString();
    for (const auto& one : check->violations) ADD_FAILURE() << one.place << ": " << one.what;
  }

  std::string folder_;
  FreshChance env_;
  Table table_;
  IcebergConnector connector_;
};
INSTANTIATE_TEST_SUITE_P(Formats, CompactTableTest, testing::Values(2, 3));

TEST_P(CompactTableTest, RowsAndTheirLineageStay) {
  Upserter upserter(this);
  for (int64_t epoch = 0; epoch < 6; ++epoch) {
    std::map<int64_t, std::string> rows;
    for (int64_t id = 2 * epoch; id < 2 * epoch + 6; ++id) rows[id] = "v" + std::to_string(epoch);
    ASSERT_TRUE(upserter.Put(rows).ok());
  }
  const auto before = Rows();
  const auto report = Compact();
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->groups, 3);
  EXPECT_EQ(report->files_in, 18);
  EXPECT_EQ(report->files_out, 3);
  EXPECT_EQ(report->rows_out, static_cast<int64_t>(before.size()));
  EXPECT_EQ(Rows(), before);
  ExpectWhole();
  // What was rewritten is upserted and rewritten again; who was not touched keeps its lineage.
  ASSERT_TRUE(upserter.Put({{3, "new"}, {4, ""}}).ok());
  ASSERT_TRUE(Compact().ok());
  auto after = Rows();
  EXPECT_EQ(after.at(3).text, "new");
  EXPECT_EQ(after.count(4), 0u);
  if (GetParam() == 3) {
    EXPECT_NE(after.at(3).last_change, before.at(3).last_change);
  }
  for (const auto& [id, row] : before) {
    if (id == 3 || id == 4) continue;
    EXPECT_EQ(after.at(id), row) << id;
  }
  ExpectWhole();
}

TEST_P(CompactTableTest, AWriterAndACompactorAtOnceLeaveTheTableExact) {
  std::map<int64_t, std::string> model;
  std::atomic<bool> done = false;
  int64_t snapshots = 0, moved = 0, failed = 0;
  Upserter upserter(this);
  ASSERT_TRUE(upserter.Put({{0, "first"}}).ok());
  model[0] = "first";
  std::thread compactor([&] {
    while (!done) {
      const auto report = Compact(2, 2);
      if (!report.ok()) {
        EXPECT_EQ(report.status().retry(), Retry::kBackoff) << report.status().ToString();
        ++failed;
        continue;
      }
      snapshots += static_cast<int64_t>(report->snapshots.size());
      moved += report->moved_deletes;
    }
  });
  std::mt19937_64 random(GetParam());
  for (int epoch = 0; epoch < 25; ++epoch) {
    std::map<int64_t, std::string> rows;
    for (int i = 0; i < 40; ++i) {
      const auto id = static_cast<int64_t>(random() % 200);
      rows[id] = random() % 8 == 0 ? "" : "e" + std::to_string(epoch);
    }
    const Status put = upserter.Put(rows);
    EXPECT_TRUE(put.ok()) << put.ToString();
    for (const auto& [id, text] : rows) {
      if (text.empty()) {
        model.erase(id);
      } else {
        model[id] = text;
      }
    }
  }
  done = true;
  compactor.join();
  EXPECT_GT(snapshots, 3);
  RecordProperty("moved_deletes", static_cast<int>(moved));
  EXPECT_EQ(Texts(), model);
  ASSERT_TRUE(Compact().ok());
  EXPECT_EQ(Texts(), model);
  ExpectWhole();
}

TEST_P(CompactTableTest, AProcessThatComesBackFindsKeysWhereTheyAreNow) {
  {
    Upserter upserter(this);
    for (int64_t epoch = 0; epoch < 4; ++epoch)
      ASSERT_TRUE(upserter.Put({{epoch, "a"}, {epoch + 3, "a"}}).ok());
  }
  ASSERT_TRUE(Compact().ok());
  std::map<int64_t, std::string> rows;
  for (int64_t generation = 2; generation < 4; ++generation) {
    for (int64_t id = 0; id < 7; ++id) rows[id] = "g" + std::to_string(generation);
    Upserter upserter(this, generation);
    ASSERT_TRUE(upserter.Put(rows).ok());
    EXPECT_EQ(Texts(), rows);
    // Once with the index that the process had, once with none.
    std::filesystem::remove_all(folder_ + "/state/index");
  }
  ExpectWhole();
}

TEST_P(CompactTableTest, ADryRunChangesNothing) {
  Upserter upserter(this);
  for (int64_t epoch = 0; epoch < 3; ++epoch) ASSERT_TRUE(upserter.Put({{epoch * 3, "a"}}).ok());
  const auto lake = Lake();
  CompactTableOptions options;
  options.what.min_input_files = 3;
  options.dry = true;
  iceberg::HeadFiles known;
  CompactionReport report;
  ASSERT_TRUE(CompactTable(&lake->catalog(), lake->files(), IcebergOptions::From(table_)->name, &known,
                           options, &report)
                  .ok());
  EXPECT_EQ(report.files_in, 3);
  EXPECT_EQ(report.files_out, 0);
  EXPECT_EQ(lake->catalog().LoadTable(IcebergOptions::From(table_)->name)->metadata.snapshots.size(), 3u);
}

}  // namespace
}  // namespace caudal
