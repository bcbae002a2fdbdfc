#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "api/position_keeper.h"
#include "api/testing/sink_contract.h"
#include "base/fault_point.h"
#include "connect/iceberg/iceberg_connector.h"
#include "connect/iceberg/iceberg_lake.h"
#include "connect/iceberg/testing/fresh_chance.h"
#include "data/column_builder.h"
#include "format/parquet_reader.h"
#include "fs/local_file_system.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class IcebergSinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-iceberg-XXXXXX";
    folder_ = mkdtemp(name);
    table_.name = "t";
    const auto column = [](std::string name, Type type) {
      TableColumn made;
      made.name = std::move(name);
      made.type = std::move(type);
      return made;
    };
    table_.columns = {column("hour", Type(TypeId::kInt)), column("a", Type(TypeId::kBigInt, false)),
                      column("s", Type::String())};
    table_.options = {{"connector", "iceberg"}, {"catalog-name", "lake"}, {"warehouse", folder_ + "/w"}};
  }
  void TearDown() override {
    Faults::Disarm();
    std::filesystem::remove_all(folder_);
  }

  ConnectorContext Context(int64_t generation = 1) {
    ConnectorContext context;
    context.query = "p/q";
    context.identity = "0123";
    context.sink = "t/sink/1";
    context.generation = generation;
    context.env = &env_;
    context.files = FileSystem::Local();
    return context;
  }
  std::unique_ptr<Sink> MakeSink(int64_t generation = 1) {
    auto sink = connector_.MakeSink(table_, Context(generation));
    EXPECT_TRUE(sink.ok()) << sink.status().ToString();
    return sink.ok() ? std::move(sink).value() : nullptr;
  }
  // What a start says of the table: from the options or from the catalog.
  std::string Trouble() {
    Status status = ValidateOptions(connector_, table_);
    if (!status.ok()) return status.ToString();
    auto sink = connector_.MakeSink(table_, Context());
    if (!sink.ok()) return sink.status().ToString();
    const Status target = (*sink)->CheckTarget();
    const Status made = (*sink)->MakeCommitter().status();
    // What is found before anything runs is what would be found later.
    EXPECT_EQ(target.ok(), made.ok()) << made.ToString();
    return target.ok() ? "" : target.ToString();
  }
  // `rows` rows whose hour is number % hours, or NULL.
  static Chunk Rows(int64_t first, int rows, int hours) {
    ColumnBuilder hour(Type(TypeId::kInt)), a(Type(TypeId::kBigInt, false)), s(Type::String());
    for (int64_t i = first; i < first + rows; ++i) {
      if (i % 10 == 9) {
        hour.AppendNull();
      } else {
        hour.Append<int32_t>(static_cast<int32_t>(i % hours));
      }
      a.Append<int64_t>(i);
      s.AppendString("text " + std::to_string(i % 3));
    }
    return Chunk({hour.Finish(), a.Finish(), s.Finish()}, rows);
  }
  iceberg::TableMetadata Metadata(const Table& table) {
    auto lake = IcebergLake::Open(*IcebergOptions::From(table), FileSystem::Local(), Env::Real());
    EXPECT_TRUE(lake.ok()) << lake.status().ToString();
    auto loaded = (*lake)->catalog().LoadTable(IcebergOptions::From(table)->name);
    EXPECT_TRUE(loaded.ok()) << loaded.status().ToString();
    return loaded.ok() ? loaded->metadata : iceberg::TableMetadata();
  }
  std::vector<iceberg::DataFile> LiveFiles(const Table& table) {
    const iceberg::TableMetadata metadata = Metadata(table);
    std::vector<iceberg::DataFile> files;
    if (!metadata.current_snapshot_id) return files;
    const iceberg::TableFiles access(FileSystem::Local(), Env::Real());
    auto plan = PlanScan(access, metadata, *metadata.FindSnapshot(*metadata.current_snapshot_id));
    EXPECT_TRUE(plan.ok()) << plan.status().ToString();
    for (const iceberg::ScanFile& file : plan->files) files.push_back(file.data.file);
    return files;
  }
  // Column a of every row of a data file, which never changes.
  const std::vector<int64_t>& RowsOf(const iceberg::DataFile& file) {
    const auto [found, is_new] = rows_of_.try_emplace(file.file_path);
    std::vector<int64_t>& rows = found->second;
    if (!is_new) return rows;
    auto opened = FileSystem::Local()->Open(file.file_path);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    auto reader = ParquetReader::Open(opened->get(), file.file_path);
    EXPECT_TRUE(reader.ok()) << reader.status().ToString();
    EXPECT_EQ((*reader)->rows(), file.record_count);
    EXPECT_TRUE((*reader)->Project({{{"a", Type(TypeId::kBigInt)}}}, 0).ok());
    for (;;) {
      auto chunk = (*reader)->Next();
      EXPECT_TRUE(chunk.ok());
      if (!chunk.ok() || chunk->empty()) return rows;
      const int64_t* values = chunk->column(0)->values<int64_t>();
      rows.insert(rows.end(), values, values + chunk->size());
    }
  }
  // Every row of the table, sorted.
  std::string Contents(const Table& table) {
    std::multiset<int64_t> rows;
    for (const iceberg::DataFile& file : LiveFiles(table)) {
      for (const int64_t row : RowsOf(file)) rows.insert(row);
    }
    std::string text;
    for (const int64_t row : rows) text += std::to_string(row) + " ";
    return text;
  }
  // Names of files below the table's data and its metadata, without what is made of chance.
  std::vector<std::string> Files(const std::string& sub) {
    std::set<std::string> names;
    const std::string folder = folder_ + "/w/default_database/t/" + sub;
    if (!std::filesystem::exists(folder)) return {};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) names.insert(std::filesystem::relative(entry.path(), folder).string());
    }
    return {names.begin(), names.end()};
  }
  std::vector<Committable> Prepare(const Chunk& rows, Epoch epoch) {
    SinkUnderTest test;
    test.open = [this](int64_t generation) { return connector_.MakeSink(table_, Context(generation)); };
    test.rows = [rows](int64_t) { return rows; };
    return sink_contract::Prepared(test, epoch.generation, epoch.number);
  }
  CommitResult Commit(const std::vector<Committable>& rows, Epoch epoch) {
    auto sink = MakeSink(epoch.generation);
    auto committer = sink->MakeCommitter();
    EXPECT_TRUE(committer.ok()) << committer.status().ToString();
    return (*committer)->Commit(epoch, rows);
  }

  std::string folder_;
  FreshChance env_;
  std::map<std::string, std::vector<int64_t>> rows_of_;  // by data file
  Table table_;
  IcebergConnector connector_;
};

TEST_F(IcebergSinkTest, KeepsTheContractOfSinks) {
  table_.options["commit.retry.min-wait-ms"] = "1";
  table_.options["caudal.partition-by"] = "bucket(4, a), hour";
  int targets = 0;
  const int cut_short = CheckSinkContract([&] {
    Table table = table_;
    table.options["warehouse"] = folder_ + "/" + std::to_string(targets++);
    SinkUnderTest test;
    test.rows = [](int64_t number) { return Rows(number * 20, 20, 3); };
    test.open = [this, table](int64_t generation) { return connector_.MakeSink(table, Context(generation)); };
    test.contents = [this, table] { return Contents(table); };
    return test;
  });
  EXPECT_GE(cut_short, 8);
}

TEST_F(IcebergSinkTest, AnEpochIsASnapshotWithItsTokenAndItsFilesSayWhatTheyHold) {
  table_.options["caudal.partition-by"] = "hour";
  table_.options["format-version"] = "3";
  ASSERT_EQ(Commit(Prepare(Rows(0, 30, 2), {1, 7}), {1, 7}).outcome, CommitOutcome::kCommitted);
  const iceberg::TableMetadata table = Metadata(table_);
  EXPECT_EQ(table.format_version, 3);
  EXPECT_EQ(table.next_row_id, 30);
  ASSERT_EQ(table.snapshots.size(), 1u);
  const auto& summary = table.snapshots[0].summary;
  EXPECT_EQ(summary.at("added-records"), "30");
  EXPECT_EQ(summary.at("added-data-files"), "3");
  EXPECT_EQ(summary.at("changed-partition-count"), "3");
  EXPECT_EQ(summary.at("caudal.epoch"), "7");
  EXPECT_THAT(Files("data"),
              ElementsAre(HasSubstr("hour=0/"), HasSubstr("hour=1/"), HasSubstr("hour=null/")));
  int64_t nulls = 0;
  for (const iceberg::DataFile& file : LiveFiles(table_)) {
    EXPECT_EQ(file.value_counts.at(2), file.record_count);
    EXPECT_FALSE(file.split_offsets.empty());
    EXPECT_EQ(file.lower_bounds.at(3), "text 0");
    EXPECT_EQ(file.upper_bounds.at(3), "text 2");
    nulls += file.null_value_counts.at(1);
  }
  EXPECT_EQ(nulls, 3);
}

TEST_F(IcebergSinkTest, ASnapshotTellsHowFarTheSourcesWereRead) {
  const std::vector<Committable> rows = Prepare(Rows(0, 3, 2), {1, 1});
  const auto sink = MakeSink();
  auto committer = std::move(sink->MakeCommitter()).value();
  auto* keeper = dynamic_cast<PositionKeeper*>(committer.get());
  ASSERT_NE(keeper, nullptr);
  keeper->NotePositions({{"clicks/scan/1", "0", R"({"offset":42})"}, {"clicks/scan/1", "1", "text"}});
  ASSERT_EQ(committer->Commit({1, 1}, rows).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(Metadata(table_).snapshots[0].summary.at("caudal.positions"),
            R"({"clicks/scan/1":{"0":{"offset":42},"1":"text"}})");
  // What every later metadata file would repeat is not kept if it is long.
  const std::vector<Committable> more = Prepare(Rows(3, 3, 2), {1, 2});
  keeper->NotePositions({{"clicks/scan/1", "0", std::string(20'000, 'x')}});
  ASSERT_EQ(committer->Commit({1, 2}, more).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(Metadata(table_).snapshots[1].summary.at("caudal.positions"), "");
}

TEST_F(IcebergSinkTest, AnEpochWithoutRowsLeavesNothing) {
  const auto sink = MakeSink();
  auto committer = std::move(sink->MakeCommitter()).value();
  auto writer = std::move(sink->MakeWriter(0)).value();
  auto committable = std::move((*writer->Seal({1, 1}))->Prepare()).value();
  EXPECT_EQ(committable.rows_added, 0);
  EXPECT_EQ(committer->Commit({1, 1}, std::span(&committable, 1)).outcome, CommitOutcome::kCommitted);
  EXPECT_TRUE(Metadata(table_).snapshots.empty());
  EXPECT_THAT(Files("data"), ElementsAre());
}

TEST_F(IcebergSinkTest, WhatACrashLeftIsRemovedAndWhatIsInTheTableIsNot) {
  ASSERT_EQ(Commit(Prepare(Rows(0, 10, 2), {1, 1}), {1, 1}).outcome, CommitOutcome::kCommitted);
  Prepare(Rows(10, 10, 2), {1, 2});  // no manifest of the checkpoint ever named it
  ASSERT_TRUE(FileSystem::Local()->Create(folder_ + "/w/default_database/t/data/somebody-else.parquet").ok());
  EXPECT_EQ(Files("data").size(), 3u);
  const size_t metadata_files = Files("metadata").size();
  for (int64_t generation : {1, 2}) {
    const auto sink = MakeSink(generation);
    auto committer = sink->MakeCommitter();
    ASSERT_TRUE(committer.ok());
    EXPECT_EQ(*(*committer)->LastCommitted(), (Epoch{1, 1}));
    ASSERT_TRUE((*committer)->RemoveLeftovers().ok());
    // The first still has its own generation: its epoch may be on its way.
    EXPECT_EQ(Files("data").size(), generation == 1 ? 3u : 2u);
  }
  EXPECT_EQ(Files("metadata").size(), metadata_files - 1);
  EXPECT_EQ(Contents(table_), "0 1 2 3 4 5 6 7 8 9 ");
}

TEST_F(IcebergSinkTest, APreparedFileThatIsGoneIsLostUnlessTheEpochIsThereAlready) {
  const std::vector<Committable> first = Prepare(Rows(0, 10, 2), {1, 1});
  ASSERT_EQ(Commit(first, {1, 1}).outcome, CommitOutcome::kCommitted);
  const std::vector<Committable> second = Prepare(Rows(10, 10, 2), {1, 2});
  for (const std::string& name : Files("data")) {
    std::filesystem::remove(folder_ + "/w/default_database/t/data/" + name);
  }
  EXPECT_EQ(Commit(first, {1, 1}).outcome, CommitOutcome::kCommitted);
  const CommitResult result = Commit(second, {1, 2});
  EXPECT_EQ(result.outcome, CommitOutcome::kLost);
  EXPECT_THAT(result.status.ToString(), HasSubstr("is gone"));
}

// KF-37: epochs of an earlier state do not make those of a new one look committed.
TEST_F(IcebergSinkTest, Kf37AQueryWithAnEmptyStateIsAnotherPipeline) {
  ASSERT_EQ(Commit(Prepare(Rows(0, 5, 2), {4, 90}), {4, 90}).outcome, CommitOutcome::kCommitted);
  ConnectorContext context = Context(1);
  context.identity = "another checkpoint";
  auto sink = std::move(connector_.MakeSink(table_, context)).value();
  auto committer = std::move(sink->MakeCommitter()).value();
  EXPECT_EQ(*committer->LastCommitted(), Epoch());
  auto writer = std::move(sink->MakeWriter(0)).value();
  sink_contract::NoRejects rejects;
  ASSERT_TRUE(writer->Write(Rows(5, 5, 2), rejects).ok());
  auto committable = std::move((*writer->Seal({1, 1}))->Prepare()).value();
  ASSERT_EQ(committer->Commit({1, 1}, std::span(&committable, 1)).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(Contents(table_), "0 1 2 3 4 5 6 7 8 9 ");
  // The first goes on, and knows its own; an older checkpoint of it can be told by that.
  const auto first = MakeSink(5);
  EXPECT_EQ(*(*first->MakeCommitter())->LastCommitted(), (Epoch{4, 90}));
}

TEST_F(IcebergSinkTest, ATableThatWasMadeAgainGetsNoRowsOfTheOneBefore) {
  const std::vector<Committable> rows = Prepare(Rows(0, 5, 2), {1, 1});
  {
    auto lake = IcebergLake::Open(*IcebergOptions::From(table_), FileSystem::Local(), &env_);
    ASSERT_TRUE((*lake)->catalog().DropTable(IcebergOptions::From(table_)->name).ok());
  }
  const CommitResult result = Commit(rows, {1, 1});
  EXPECT_EQ(result.outcome, CommitOutcome::kRefused);
  EXPECT_THAT(result.status.ToString(), HasSubstr("it was dropped and made again"));
}

TEST_F(IcebergSinkTest, Kf57ManyPartitionsCostOneFileEach) {
  table_.options["caudal.partition-by"] = "a";
  table_.options["caudal.sink.max-open-files"] = "3";
  auto sink = MakeSink();
  auto committer = std::move(sink->MakeCommitter()).value();
  auto writer = std::move(sink->MakeWriter(0)).value();
  sink_contract::NoRejects rejects;
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(writer->Write(Rows(0, 50, 2), rejects).ok());
  }
  EXPECT_GT(writer->buffered_bytes(), 0);
  auto committable = std::move((*writer->Seal({1, 1}))->Prepare()).value();
  EXPECT_EQ(committable.rows_added, 150);
  ASSERT_EQ(committer->Commit({1, 1}, std::span(&committable, 1)).outcome, CommitOutcome::kCommitted);
  const std::vector<iceberg::DataFile> files = LiveFiles(table_);
  EXPECT_EQ(files.size(), 50u);
  for (const iceberg::DataFile& file : files) EXPECT_EQ(file.record_count, 3);
}

TEST_F(IcebergSinkTest, WaitingRowsBecomeFilesWhenTheyAreTooMany) {
  table_.options["caudal.partition-by"] = "a";
  table_.options["caudal.sink.max-open-files"] = "1";
  table_.options["caudal.sink.buffer-size"] = "1b";
  const std::vector<Committable> rows = Prepare(Rows(0, 50, 2), {1, 1});
  ASSERT_EQ(Commit(rows, {1, 1}).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(LiveFiles(table_).size(), 50u);
}

TEST_F(IcebergSinkTest, Kf33Kf34OddPartitionValuesAreTheirOwn) {
  table_.options["caudal.partition-by"] = "s";
  const std::string odd[] = {"", "null", "a/b", "../up", std::string(300, 'x'), std::string(300, 'y')};
  ColumnBuilder hour(Type(TypeId::kInt)), a(Type(TypeId::kBigInt, false)), s(Type::String());
  for (const std::string& text : odd) {
    hour.AppendNull();
    a.Append<int64_t>(1);
    s.AppendString(text);
  }
  hour.AppendNull();
  a.Append<int64_t>(2);
  s.AppendNull();
  ASSERT_EQ(Commit(Prepare(Chunk({hour.Finish(), a.Finish(), s.Finish()}, 7), {1, 1}), {1, 1}).outcome,
            CommitOutcome::kCommitted);
  std::vector<Value> partitions;
  for (const iceberg::DataFile& file : LiveFiles(table_)) partitions.push_back(file.partition[0]);
  EXPECT_EQ(partitions.size(), 7u);
  for (const std::string& text : odd) EXPECT_THAT(partitions, ::testing::Contains(Value(text)));
  EXPECT_THAT(partitions, ::testing::Contains(Value()));
  for (const std::string& name : Files("data")) EXPECT_THAT(name, ::testing::Not(HasSubstr("/../")));
}

TEST_F(IcebergSinkTest, ATableOfOthersIsWrittenOnlyIfRowsFit) {
  ASSERT_EQ(Trouble(), "");  // makes it
  const Table whole = table_;
  const auto change = [&](auto edit) {
    table_ = whole;
    edit(table_);
    return Trouble();
  };
  EXPECT_EQ(change([](Table& t) { t.columns.pop_back(); }), "");  // NULL is allowed there
  EXPECT_THAT(change([](Table& t) { t.columns[1].type = Type(TypeId::kInt, false); }),
              HasSubstr("column 'a' is declared as INT NOT NULL, and the table has it as long"));
  EXPECT_THAT(change([](Table& t) { t.columns[1].type = Type(TypeId::kBigInt); }),
              HasSubstr("column 'a' is required in the table, and rows may bring NULL"));
  EXPECT_THAT(change([](Table& t) { t.columns[2].name = "S"; }),
              HasSubstr("column 'S' is named 's' in the table"));
  EXPECT_THAT(change([](Table& t) { t.columns[2].name = "z"; }), HasSubstr("the table has no column 'z'"));
  EXPECT_THAT(change([](Table& t) { t.columns.erase(t.columns.begin() + 1); }),
              HasSubstr("column 'a' of the table is required, and is not declared"));
  EXPECT_THAT(change([](Table& t) { t.options["format-version"] = "3"; }),
              HasSubstr("the table is of format 2, and 'format-version' is '3'"));
  EXPECT_THAT(change([](Table& t) { t.options["caudal.partition-by"] = "day(a)"; }),
              HasSubstr("'day' has no meaning"));
  EXPECT_THAT(change([](Table& t) { t.options["caudal.partition-by"] = "hour"; }),
              HasSubstr("the table is not partitioned, and the declaration says 'hour'"));
}

TEST_F(IcebergSinkTest, WhatCannotBeIsRefusedByName) {
  const Table whole = table_;
  const auto with = [&](const char* option, const char* value) {
    table_ = whole;
    table_.options[option] = value;
    return Trouble();
  };
  EXPECT_THAT(with("format-version", "4"), HasSubstr("format 4 of Iceberg is not written"));
  EXPECT_THAT(with("catalog-type", "glue"), HasSubstr("a catalog of type 'glue' is not built yet"));
  EXPECT_THAT(with("warehouse", "gs://bucket/w"), HasSubstr("locations of 'gs:' are not read"));
  EXPECT_THAT(with("warehouse", "s3://bucket/w"), HasSubstr("a catalog of SQLite is a file of this machine"));
  EXPECT_THAT(with("uri", "http://127.0.0.1:8181"), HasSubstr("is no SQLite file"));
  EXPECT_THAT(with("write.upsert.enabled", "true"), HasSubstr("is to be upserted, and has no key"));
  EXPECT_THAT(with("write.format.default", "orc"), HasSubstr("data files of format 'orc' are not written"));
  EXPECT_THAT(with("write.parquet.compression-codec", "lz4"), HasSubstr("'lz4' is not written"));
  EXPECT_THAT(with("caudal.partition-by", "week(a)"), HasSubstr("the transform 'week' is not known"));
  EXPECT_THAT(with("caudal.sink.max-open-files", "0"), HasSubstr("'0' is not 1 to"));
  table_ = whole;
  table_.columns[2].type = Type::Timestamp(9);
  EXPECT_THAT(Trouble(), HasSubstr("tables of format 2 keep microseconds"));
  table_.columns[2].type = Type::Array(Type::String());
  EXPECT_THAT(Trouble(), HasSubstr("cannot hold ARRAY"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/w/default_database/t")) << "nothing was made";
}

}  // namespace
}  // namespace caudal
