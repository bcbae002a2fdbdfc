// Rows with keys through the sink: what a reader finds is the last row of each key, whatever dies and
// repeats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "api/duplicate_counter.h"
#include "api/testing/sink_contract.h"
#include "base/fault_point.h"
#include "connect/iceberg/iceberg_connector.h"
#include "connect/iceberg/iceberg_lake.h"
#include "connect/iceberg/scan/data_file_reader.h"
#include "connect/iceberg/testing/fresh_chance.h"
#include "data/column_builder.h"
#include "data/column_view.h"
#include "fs/local_file_system.h"
#include "fs/memory_file_system.h"
#include "fs/scheme_file_system.h"
#include "iceberg/index/key_index.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;

struct Change {
  RowKind kind = RowKind::kInsert;
  int64_t id = 0;
  int32_t hour = 0;
  std::string text;
};

class IcebergUpsertTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-upsert-XXXXXX";
    folder_ = mkdtemp(name);
    table_.name = "t";
    const auto column = [](std::string name, Type type) {
      TableColumn made;
      made.name = std::move(name);
      made.type = std::move(type);
      return made;
    };
    table_.columns = {column("hour", Type(TypeId::kInt)), column("id", Type(TypeId::kBigInt, false)),
                      column("s", Type::String())};
    table_.primary_key = {1};
    table_.options = {{"connector", "iceberg"},
                      {"catalog-name", "lake"},
                      {"warehouse", folder_ + "/w"},
                      {"format-version", std::to_string(GetParam())},
                      {"caudal.partition-by", "hour"}};
  }
  void TearDown() override {
    Faults::Disarm();
    std::filesystem::remove_all(folder_);
  }

  ConnectorContext Context(int64_t generation, const std::string& checkpoint = "state") {
    ConnectorContext context;
    context.query = "p/q";
    context.identity = checkpoint;
    context.sink = "t/sink/1";
    context.generation = generation;
    context.env = &env_;
    context.files = FileSystem::Local();
    context.segment_dir = folder_ + "/" + checkpoint;
    std::filesystem::create_directories(context.segment_dir);
    return context;
  }
  static Chunk Rows(const std::vector<Change>& changes) {
    ColumnBuilder hour(Type(TypeId::kInt)), id(Type(TypeId::kBigInt, false)), s(Type::String());
    auto kinds = std::make_unique<std::vector<RowKind>>();
    for (const Change& change : changes) {
      hour.Append<int32_t>(change.hour);
      id.Append<int64_t>(change.id);
      s.AppendString(change.text);
      kinds->push_back(change.kind);
    }
    const auto rows = static_cast<int32_t>(changes.size());
    return Chunk({hour.Finish(), id.Finish(), s.Finish()}, rows, nullptr, RowKindsPtr(std::move(kinds)));
  }
  // A process that takes the rows and commits them as one epoch.
  CommitResult Put(const std::vector<std::vector<Change>>& chunks, int64_t epoch, int64_t generation = 1,
                   const std::string& checkpoint = "state") {
    auto sink = std::move(connector_.MakeSink(table_, Context(generation, checkpoint))).value();
    auto committer = std::move(sink->MakeCommitter()).value();
    auto writer = std::move(sink->MakeWriter(0)).value();
    sink_contract::NoRejects rejects;
    for (const auto& chunk : chunks) EXPECT_TRUE(writer->Write(Rows(chunk), rejects).ok());
    auto committable = (*writer->Seal({generation, epoch}))->Prepare();
    EXPECT_TRUE(committable.ok()) << committable.status().ToString();
    counted_ = committable->rows_added + committable->rows_removed;
    return committer->Commit({generation, epoch}, std::span(&*committable, 1));
  }

  iceberg::TableMetadata Metadata(const Table& table) {
    auto options = IcebergOptions::From(table).value();
    auto lake = IcebergLake::Open(options, FileSystem::Local(), &env_).value();
    return lake->catalog().LoadTable(options.name)->metadata;
  }
  // Every live row, "id hour text", sorted; as the scan reads it.
  std::string Contents(const Table& table) {
    const iceberg::TableMetadata metadata = Metadata(table);
    if (!metadata.current_snapshot_id) return "";
    const iceberg::TableFiles files(FileSystem::Local(), &env_);
    const auto plan =
        iceberg::PlanScan(files, metadata, *metadata.FindSnapshot(*metadata.current_snapshot_id));
    if (!plan.ok()) return plan.status().ToString();
    const iceberg::Schema& schema = metadata.schemas[0];
    const std::vector<ScanColumn> columns = {
        {ScanColumn::From::kField, "hour", Type(TypeId::kInt), *schema.FindField(1)},
        {ScanColumn::From::kField, "id", Type(TypeId::kBigInt), *schema.FindField(2)},
        {ScanColumn::From::kField, "s", Type::String(), *schema.FindField(3)}};
    std::multimap<int64_t, std::string> rows;
    for (const iceberg::ScanFile& file : plan->files) {
      auto reader = DataFileReader::Open(FileSystem::Local(), metadata, *plan, file, columns, 0, 0).value();
      for (;;) {
        const FileRows read = std::move(reader->Next()).value();
        if (read.chunk.physical_rows() == 0) break;
        const RowSet live = read.chunk.rows();
        const ColumnView<int32_t> hour(*read.chunk.column(0));
        const ColumnView<int64_t> id(*read.chunk.column(1));
        const ColumnView<StringView> text(*read.chunk.column(2));
        for (int32_t i = 0; i < live.count; ++i) {
          const int32_t row = live[i];
          rows.emplace(id[row], std::to_string(id[row]) + " " + std::to_string(hour[row]) + " " +
                                    std::string(text[row].view()) + "; ");
        }
      }
    }
    std::string all;
    for (const auto& [id, row] : rows) all += row;
    return all;
  }
  std::map<std::string, std::string> Summary() {
    const iceberg::TableMetadata metadata = Metadata(table_);
    return metadata.FindSnapshot(*metadata.current_snapshot_id)->summary;
  }

  std::string folder_;
  FreshChance env_;
  Table table_;
  IcebergConnector connector_;
  int64_t counted_ = 0;  // by the last Put
};

constexpr RowKind kI = RowKind::kInsert, kUB = RowKind::kUpdateBefore, kUA = RowKind::kUpdateAfter,
                  kD = RowKind::kDelete;

// Counts what a sink says is there already.
class CountedDuplicates : public sink_contract::NoRejects, public DuplicateCounter {
 public:
  void Duplicate(int32_t rows) override { duplicates += rows; }
  int64_t duplicates = 0;
};

// KF-38.
TEST_P(IcebergUpsertTest, Kf38TheLastRowOfAKeyStaysWhereverItsPartitionIs) {
  ASSERT_EQ(Put({{{kI, 1, 0, "a"}, {kI, 2, 0, "b"}}, {{kI, 3, 1, "c"}, {kUA, 1, 0, "a2"}}}, 1).outcome,
            CommitOutcome::kCommitted);
  EXPECT_EQ(counted_, 4);
  EXPECT_EQ(Contents(table_), "1 0 a2; 2 0 b; 3 1 c; ");
  EXPECT_EQ(Summary().at("operation"), "append") << "what is folded in memory deletes nothing";
  EXPECT_EQ(Summary().at("added-records"), "3");
  ASSERT_EQ(
      Put({{{kUB, 2, 0, "b"}, {kUA, 2, 7, "moved"}, {kD, 3, 1, "c"}, {kD, 9, 0, "never there"}}}, 2).outcome,
      CommitOutcome::kCommitted);
  EXPECT_EQ(Contents(table_), "1 0 a2; 2 7 moved; ");
  EXPECT_EQ(Summary().at("operation"), "overwrite");
  EXPECT_EQ(Summary().count("added-equality-delete-files"), 0u);
  ASSERT_EQ(Put({{{kD, 1, 0, ""}}}, 3).outcome, CommitOutcome::kCommitted);
  ASSERT_EQ(Put({{{kI, 1, 0, "again"}}}, 4).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(Contents(table_), "1 0 again; 2 7 moved; ");
  // Only deletes, of what is not there.
  ASSERT_EQ(Put({{{kD, 77, 0, ""}}}, 5).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(Metadata(table_).snapshots.size(), 4u);
}

TEST_P(IcebergUpsertTest, AnEpochThatDoesNotFitInMemoryIsTheSame) {
  table_.options["caudal.sink.buffer-size"] = "1b";  // each chunk is a run
  table_.options["caudal.sink.max-open-files"] = "2";
  std::vector<std::vector<Change>> chunks;
  for (int i = 0; i < 12; ++i) {
    chunks.push_back({{kI, i % 5, i % 4, "v" + std::to_string(i)}, {kI, 100 + i, i % 4, "once"}});
    if (i == 7) chunks.push_back({{kD, 3, 0, ""}});
  }
  ASSERT_EQ(Put(chunks, 1).outcome, CommitOutcome::kCommitted);
  std::string wanted = "0 2 v10; 1 3 v11; 2 3 v7; 4 1 v9; ";
  for (int i = 0; i < 12; ++i) wanted += std::to_string(100 + i) + " " + std::to_string(i % 4) + " once; ";
  // The key 3 came again after it was deleted.
  wanted.insert(wanted.find("4 1"), "3 0 v8; ");
  EXPECT_EQ(Contents(table_), wanted);
  ASSERT_EQ(Put({{{kUA, 0, 0, "next"}, {kD, 4, 0, ""}}}, 2).outcome, CommitOutcome::kCommitted);
  EXPECT_THAT(Contents(table_), HasSubstr("0 0 next; 1 3 v11; 2 3 v7; 3 0 v8; 100 "));
}

// What was written, replaced and taken away is counted where it is seen, not where it came in.
TEST_P(IcebergUpsertTest, EveryRowOfAnEpochIsRecounted) {
  int64_t epoch = 0;
  for (const char* buffer : {"64mb", "1b"}) {  // one run; each chunk a run
    table_.options["caudal.sink.buffer-size"] = buffer;
    auto made = connector_.MakeSink(table_, Context(1));
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    auto writer = std::move((*made)->MakeWriter(0)).value();
    sink_contract::NoRejects rejects;
    for (const auto& chunk : std::vector<std::vector<Change>>{
             {{kI, 1, 0, "a"}, {kI, 2, 0, "b"}, {kD, 3, 0, "never there"}, {kI, 2, 0, "b again"}},
             {{kD, 1, 0, "a"}, {kI, 1, 0, "back"}, {kD, 3, 0, "again"}, {kI, 4, 0, "d"}, {kD, 4, 0, "d"}}}) {
      ASSERT_TRUE(writer->Write(Rows(chunk), rejects).ok());
    }
    auto sealed = std::move(writer->Seal({1, ++epoch})).value();
    const auto committable = sealed->Prepare();
    ASSERT_TRUE(committable.ok()) << committable.status().ToString();
    EXPECT_EQ(committable->rows_added, 5) << buffer;
    EXPECT_EQ(committable->rows_removed, 4) << buffer;
  }
}

TEST_P(IcebergUpsertTest, AnIndexThatIsGoneOrBehindIsMadeOfTheTable) {
  ASSERT_EQ(Put({{{kI, 1, 0, "a"}, {kI, 2, 0, "b"}}}, 1).outcome, CommitOutcome::kCommitted);
  std::filesystem::remove_all(folder_ + "/state/index");
  ASSERT_EQ(Put({{{kUA, 1, 1, "a2"}}}, 2).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(Contents(table_), "1 1 a2; 2 0 b; ");
  // Another query writes the table too: new files, then deletes that the first has not seen.
  ASSERT_EQ(Put({{{kI, 3, 0, "c"}}}, 1, 1, "other").outcome, CommitOutcome::kCommitted);
  ASSERT_EQ(Put({{{kUA, 3, 5, "c2"}}}, 3).outcome, CommitOutcome::kCommitted);
  ASSERT_EQ(Put({{{kUA, 1, 0, "a3"}, {kD, 2, 0, ""}}}, 2, 1, "other").outcome, CommitOutcome::kCommitted);
  ASSERT_EQ(Put({{{kUA, 1, 2, "a4"}, {kUA, 2, 2, "b2"}}}, 4).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(Contents(table_), "1 2 a4; 2 2 b2; 3 5 c2; ");
}

TEST_P(IcebergUpsertTest, KeepsTheContractOfSinks) {
  table_.options["commit.retry.min-wait-ms"] = "1";
  int targets = 0;
  const int cut_short = CheckSinkContract([&] {
    Table table = table_;
    const std::string name = "target" + std::to_string(targets++);
    table.options["warehouse"] = folder_ + "/" + name;
    SinkUnderTest test;
    test.rows = [](int64_t number) {
      std::vector<Change> changes;
      for (int64_t i = 0; i < 20; ++i) {
        const bool gone = i % 7 == 6;
        changes.push_back({gone ? kD : kUA, (number * 3 + i) % 30, static_cast<int32_t>(number % 3),
                           "epoch " + std::to_string(number)});
      }
      return Rows(changes);
    };
    test.open = [this, table, name](int64_t generation) {
      return connector_.MakeSink(table, Context(generation, name));
    };
    test.contents = [this, table] { return Contents(table); };
    return test;
  });
  EXPECT_GE(cut_short, 8);
}

// A state in memory, and tables that name another store.
class StateElsewhere : public SchemeFileSystem {
 public:
  explicit StateElsewhere(Env* env) : SchemeFileSystem(&memory_, {{"s3", &memory_}}), memory_(env) {}
  Result<FileSystem*> WithOptions(const FileOptions&) override { return FileSystem::Local(); }
  FileSystem* WithGrant(const std::string&, AskForGrant) override { return this; }
  MemoryFileSystem* memory() { return &memory_; }

 private:
  MemoryFileSystem memory_;
};

TEST_P(IcebergUpsertTest, WhatAnEpochKeptInAStateElsewhereGoesWithIt) {
  StateElsewhere state(&env_);
  ConnectorContext context = Context(1);
  context.files = &state;
  context.segment_dir = "s3://b/state";
  ASSERT_TRUE(state.MakeDirectories(context.segment_dir).ok());
  auto sink = std::move(connector_.MakeSink(table_, context)).value();
  auto committer = std::move(sink->MakeCommitter()).value();
  auto writer = std::move(sink->MakeWriter(0)).value();
  sink_contract::NoRejects rejects;
  const auto kept = [&] {
    return std::ranges::count_if(state.memory()->Paths(),
                                 [](const std::string& path) { return path.ends_with(".places"); });
  };
  for (int64_t epoch = 1; epoch <= 3; ++epoch) {
    ASSERT_TRUE(writer->Write(Rows({{kI, epoch, 0, "a"}}), rejects).ok());
    auto committable = (*writer->Seal({1, epoch}))->Prepare();
    ASSERT_TRUE(committable.ok()) << committable.status().ToString();
    EXPECT_EQ(kept(), 1);
    ASSERT_EQ(committer->Commit({1, epoch}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
    EXPECT_EQ(kept(), 0);
  }
}

TEST_P(IcebergUpsertTest, AnEpochThatChangedNothingIsSettledForGood) {
  ASSERT_EQ(Put({{{kI, 1, 0, "a"}}}, 1).outcome, CommitOutcome::kCommitted);
  auto sink = std::move(connector_.MakeSink(table_, Context(1))).value();
  auto writer = std::move(sink->MakeWriter(0)).value();
  sink_contract::NoRejects rejects;
  ASSERT_TRUE(writer->Write(Rows({{kD, 77, 0, ""}}), rejects).ok());
  const Committable nothing = std::move((*writer->Seal({1, 2}))->Prepare()).value();
  for (int64_t generation = 2; generation < 6; ++generation) {
    sink = std::move(connector_.MakeSink(table_, Context(generation))).value();
    auto committer = std::move(sink->MakeCommitter()).value();
    const CommitResult again = committer->Commit({1, 2}, std::span(&nothing, 1));
    ASSERT_EQ(again.outcome, CommitOutcome::kCommitted) << generation << ": " << again.status.ToString();
    ASSERT_TRUE(committer->RemoveLeftovers().ok());
    // What others add in between is not of this epoch.
    if (generation == 3) {
      ASSERT_EQ(Put({{{kI, 77, 5, "theirs"}}}, 1, 1, "other").outcome, CommitOutcome::kCommitted);
    }
  }
  EXPECT_EQ(Contents(table_), "1 0 a; 77 5 theirs; ");
}

TEST_P(IcebergUpsertTest, AnEpochOfAnotherKeyIsRefusedByName) {
  ASSERT_EQ(Put({{{kI, 1, 0, "a"}}}, 1).outcome, CommitOutcome::kCommitted);
  const auto prepare = [&](int64_t epoch) {
    auto sink = std::move(connector_.MakeSink(table_, Context(2))).value();
    auto writer = std::move(sink->MakeWriter(0)).value();
    sink_contract::NoRejects rejects;
    EXPECT_TRUE(writer->Write(Rows({{kI, 1, 0, "b"}}), rejects).ok());
    return std::move((*writer->Seal({2, epoch}))->Prepare()).value();
  };
  const auto commit = [&](int64_t epoch, const Committable& prepared) {
    auto sink = std::move(connector_.MakeSink(table_, Context(3))).value();
    return std::move(sink->MakeCommitter()).value()->Commit({2, epoch}, std::span(&prepared, 1));
  };
  const Committable by_id = prepare(1);
  for (const std::vector<int>& key : {std::vector<int>{}, {1, 2}}) {
    table_.primary_key = key;
    const CommitResult result = commit(1, by_id);
    EXPECT_EQ(result.outcome, CommitOutcome::kRefused);
    EXPECT_THAT(result.status.ToString(),
                HasSubstr("was prepared for the PRIMARY KEY (2 BIGINT NOT NULL), and"));
  }
  table_.primary_key = {};
  const Committable without = prepare(2);
  table_.primary_key = {1};
  EXPECT_THAT(commit(2, without).status.ToString(), HasSubstr("was prepared for no PRIMARY KEY"));
  EXPECT_EQ(Contents(table_), "1 0 a; ");
  ASSERT_EQ(commit(1, by_id).outcome, CommitOutcome::kCommitted);
  table_.primary_key = {1, 2};
  EXPECT_EQ(commit(1, by_id).outcome, CommitOutcome::kCommitted) << "the history has it";
  EXPECT_EQ(Contents(table_), "1 0 b; ");
}

TEST_P(IcebergUpsertTest, AWrongIndexIsMadeAnew) {
  ASSERT_EQ(Put({{{kI, 1, 0, "a"}, {kI, 2, 0, "b"}}}, 1).outcome, CommitOutcome::kCommitted);
  const std::string folder = folder_ + "/state/index";
  const auto entries = [&] {
    std::string path;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.path().extension() == ".keys") path = file.path();
    }
    return std::pair(path, FileSystem::Local()->ReadAll(path).value());
  };
  const auto flip = [&] {
    auto [path, bytes] = entries();
    bytes[bytes.size() - 1] ^= 1;
    auto file = std::move(FileSystem::Local()->Create(path)).value();
    ASSERT_TRUE(file->Append(bytes).ok() && file->Close().ok());
  };
  // What the checksums do not tell: an index that says something else of the same snapshot.
  const auto lie = [&](const std::string& data_file, uint32_t position) {
    const std::string json = FileSystem::Local()->ReadAll(folder + "/index.json").value();
    const size_t at = json.find("\"identity\":\"") + 12;
    const std::string identity = json.substr(at, json.find('"', at) - at);
    const std::string bytes = entries().second;
    std::vector<iceberg::IndexEntry> all(bytes.size() / sizeof(iceberg::IndexEntry));
    std::memcpy(all.data(), bytes.data(), bytes.size());
    for (iceberg::IndexEntry& entry : all) entry.file = 0, entry.position = position;
    auto index = std::move(iceberg::KeyIndex::Open(FileSystem::Local(), folder, identity)).value();
    const auto stamp = index->stamp();
    ASSERT_TRUE(stamp && index->Clear().ok() && index->Add(all, {data_file}).ok() &&
                index->Seal(*stamp).ok());
  };
  flip();
  ASSERT_EQ(Put({{{kUA, 1, 0, "a2"}}}, 2).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(Contents(table_), "1 0 a2; 2 0 b; ");
  lie("/nowhere.parquet", 0);
  const CommitResult gone = Put({{{kUA, 1, 0, "a3"}, {kUA, 2, 0, "b3"}}}, 3);
  ASSERT_EQ(gone.outcome, CommitOutcome::kCommitted) << gone.status.ToString();
  EXPECT_EQ(Contents(table_), "1 0 a3; 2 0 b3; ");
  // Nor are rows taken for known that are not, where a key must be new.
  flip();
  table_.options["caudal.unique"] = "ignore";
  auto sink = std::move(connector_.MakeSink(table_, Context(9))).value();
  auto writer = std::move(sink->MakeWriter(0)).value();
  CountedDuplicates counts;
  const Status written = writer->Write(Rows({{kI, 1, 0, "x"}, {kI, 5, 0, "e"}}), counts);
  ASSERT_TRUE(written.ok()) << written.ToString();
  EXPECT_EQ(counts.duplicates, 1);
}

TEST_P(IcebergUpsertTest, ACatalogThatWasRestoredFromACopyIsNamed) {
  namespace fs = std::filesystem;
  ASSERT_EQ(Put({{{kI, 1, 0, "a"}}}, 1).outcome, CommitOutcome::kCommitted);
  fs::copy(folder_ + "/w", folder_ + "/copy", fs::copy_options::recursive);
  ASSERT_EQ(Put({{{kI, 2, 0, "b"}}}, 2).outcome, CommitOutcome::kCommitted);
  fs::remove_all(folder_ + "/w");
  fs::rename(folder_ + "/copy", folder_ + "/w");
  const CommitResult result = Put({{{kI, 3, 0, "c"}}}, 3);
  EXPECT_EQ(result.outcome, CommitOutcome::kRefused) << "trying again changes nothing";
  EXPECT_THAT(result.status.ToString(), HasSubstr("older than a commit it acknowledged"));
  EXPECT_THAT(result.status.ToString(), HasSubstr("under another --state folder"));
}

TEST_P(IcebergUpsertTest, AKeyThatIsThereOrOnItsWayIsLeftOut) {
  table_.options["caudal.unique"] = "ignore";
  EXPECT_TRUE(connector_.sink_changelog(table_)->insert_only());
  auto sink = std::move(connector_.MakeSink(table_, Context(1))).value();
  auto committer = std::move(sink->MakeCommitter()).value();
  auto writer = std::move(sink->MakeWriter(0)).value();
  CountedDuplicates counts;
  const auto write = [&](const std::vector<Change>& rows) {
    EXPECT_TRUE(writer->Write(Rows(rows), counts).ok());
    return counts.duplicates;
  };
  const auto seal = [&](int64_t epoch) { return std::move((*writer->Seal({1, epoch}))->Prepare()).value(); };
  EXPECT_EQ(write({{kI, 1, 0, "a"}, {kI, 1, 0, "twice"}, {kI, 2, 0, "b"}}), 1) << "in one chunk";
  EXPECT_EQ(write({{kI, 2, 5, "again"}}), 2) << "in one epoch";
  const Committable first = seal(1);
  EXPECT_EQ(first.rows_added, 2);
  EXPECT_EQ(write({{kI, 1, 0, "x"}, {kI, 3, 0, "c"}}), 3) << "while the former epoch is on its way";
  ASSERT_EQ(committer->Commit({1, 1}, std::span(&first, 1)).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(write({{kI, 1, 0, "x"}, {kI, 3, 0, "x"}}), 5) << "when it is there";
  const Committable second = seal(2);
  // Another writer is quicker with the key 3.
  table_.options["caudal.unique"] = "upsert";
  ASSERT_EQ(Put({{{kI, 3, 9, "theirs"}}}, 1, 1, "other").outcome, CommitOutcome::kCommitted);
  ASSERT_EQ(committer->Commit({1, 2}, std::span(&second, 1)).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(Contents(table_), "1 0 a; 2 0 b; 3 9 theirs; ");
  EXPECT_EQ(write({{kI, 3, 0, "x"}, {kI, 4, 0, "d"}}), 6);
  const Committable third = seal(3);
  ASSERT_EQ(committer->Commit({1, 3}, std::span(&third, 1)).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(Contents(table_), "1 0 a; 2 0 b; 3 9 theirs; 4 0 d; ");
}

TEST_P(IcebergUpsertTest, AKeyThatMustBeNewStopsTheQuery) {
  ASSERT_EQ(Put({{{kI, 1, 0, "a"}}}, 1).outcome, CommitOutcome::kCommitted);
  table_.options["caudal.unique"] = "fail";
  auto sink = std::move(connector_.MakeSink(table_, Context(2, "another"))).value();
  auto committer = std::move(sink->MakeCommitter()).value();
  auto writer = std::move(sink->MakeWriter(0)).value();
  CountedDuplicates rejects;
  ASSERT_TRUE(writer->Write(Rows({{kI, 2, 0, "b"}}), rejects).ok());
  const Status status = writer->Write(Rows({{kI, 3, 0, "c"}, {kI, 1, 0, "again"}}), rejects);
  EXPECT_EQ(status.domain(), Domain::kData);
  EXPECT_THAT(status.ToString(), HasSubstr(R"(the table has a row of the key {"id":1} already)"));
  EXPECT_EQ(Contents(table_), "1 0 a; ");
}

TEST_P(IcebergUpsertTest, WhatCannotBeUniqueIsRefusedByName) {
  table_.options["caudal.unique"] = "sometimes";
  EXPECT_THAT(connector_.MakeSink(table_, Context(1)).status().ToString(),
              HasSubstr("'caudal.unique' = 'sometimes' is not known"));
  table_.options["caudal.unique"] = "ignore";
  table_.primary_key.clear();
  EXPECT_THAT(connector_.MakeSink(table_, Context(1)).status().ToString(),
              HasSubstr("'caudal.unique' is of a key, and there is none"));
}

INSTANTIATE_TEST_SUITE_P(Formats, IcebergUpsertTest, ::testing::Values(2, 3));

}  // namespace
}  // namespace caudal
