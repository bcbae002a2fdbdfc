// Appends through the SQLite catalog, and through one that loses answers, is late, and reads stale metadata.
#include "iceberg/commit/append.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>
#include <set>

#include "fs/memory_file_system.h"
#include "iceberg/catalog/sqlite_catalog.h"
#include "iceberg/testing/bad_catalog.h"

namespace caudal::iceberg {
namespace {

using testing::HasSubstr;

struct AppendPlants {
  bool forget_tokens = false;
  bool ignore_head = false;
};

// Two pipelines append 8 epochs each, in order; an epoch whose commit gave up, or whose process was
// restarted, is committed again. Empty if every file is there once and the table is whole; else what is
// wrong.
std::string Live(uint64_t seed, int format_version, const AppendPlants& plants) {
  ManualEnv env(1, seed);
  MemoryFileSystem memory(&env);
  TableFiles files(&memory, &env);
  BadCatalog catalog(&files, seed);
  std::mt19937_64 random(seed + 1);
  NewTable definition = Definition(format_version);
  definition.properties["commit.retry.num-retries"] = std::to_string(random() % 4);
  definition.properties["commit.manifest.min-count-to-merge"] = std::to_string(2 + seed % 5);
  (void)catalog.CreateTable(kName, definition).ok();
  catalog.forget_tokens = plants.forget_tokens;
  catalog.ignore_head = plants.ignore_head;
  std::map<std::string, int64_t> wanted;
  std::string wrong;
  const std::function<void(int, int)> run = [&](int pipeline, int epoch) {
    const std::string path = "/d/" + std::to_string(pipeline) + "-" + std::to_string(epoch);
    wanted[path] = epoch + 1;
    auto append = PrepareAppend(files, catalog.table(), 0, {File(path, epoch + 1, epoch % 4)});
    if (!append.ok()) return void(wrong = append.status().ToString());
    const PipelineToken token{"p" + std::to_string(pipeline), 1, epoch, "{}"};
    for (int tries = 0;; ++tries) {
      // The token alone tells: a second manifest of the same files has another name.
      if (tries % 2 == 1)
        append = PrepareAppend(files, catalog.table(), 0, {File(path, epoch + 1, epoch % 4)});
      if (random() % 4 == 0) catalog.Deliver();
      const auto outcome = CommitAppend(&catalog, files, kName, *append, token, {});
      const bool repeat = random() % 5 == 0;  // a restart forgets that it is done
      if (outcome.ok() && !repeat) return;
      if (!outcome.ok() && outcome.status().retry() != Retry::kBackoff)
        return void(wrong = outcome.status().ToString());
      if (tries == 200) return void(wrong = "no end");
    }
  };
  for (int epoch = 0; epoch < 8 && wrong.empty(); ++epoch) {
    catalog.meanwhile = [&run, epoch] { run(1, epoch); };
    run(0, epoch);
    if (catalog.meanwhile) std::exchange(catalog.meanwhile, nullptr)();
  }
  catalog.Deliver();
  if (!wrong.empty()) return wrong;

  const TableMetadata& table = catalog.table();
  std::map<std::string, int64_t> found;
  std::set<int64_t> row_ids;
  int64_t rows = 0;
  const Snapshot& head = *table.FindSnapshot(*table.current_snapshot_id);
  for (const ManifestEntry& entry : EntriesOf(files, head)) {
    if (!found.emplace(entry.file.file_path, entry.file.record_count).second)
      return entry.file.file_path + " is there twice";
    rows += entry.file.record_count;
    for (int64_t i = 0; format_version == 3 && i < entry.file.record_count; ++i) {
      if (!row_ids.insert(*entry.file.first_row_id + i).second) return "a row id is given twice";
    }
  }
  if (found != wanted) return "files are missing";
  if (head.summary.at("total-records") != std::to_string(rows)) return "the totals are wrong";
  for (const Snapshot& snapshot : table.snapshots) {
    if (!files.Read(snapshot.manifest_list).ok()) return "a live manifest list was removed";
  }
  return "";
}

// KF-36: lost answers, late requests, restarts.
TEST(AppendSimulation, EveryEpochIsThereOnce) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    ASSERT_EQ(Live(seed, seed % 2 == 0 ? 2 : 3, {}), "") << "seed " << seed;
  }
}

TEST(AppendSimulation, PlantedFaultsAreCaught) {
  for (const AppendPlants& plants :
       {AppendPlants{.forget_tokens = true}, AppendPlants{.ignore_head = true}}) {
    int caught = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) caught += Live(seed, 2, plants).empty() ? 0 : 1;
    EXPECT_GT(caught, 10) << (plants.forget_tokens ? "forget_tokens" : "ignore_head");
  }
}

// A SQLite catalog with its files in a folder of the test's own.
class SqliteAppend : public testing::Test {
 protected:
  SqliteAppend() : files_(FileSystem::Local(), Env::Real()) {
    char folder[] = "/tmp/caudal_append_XXXXXX";
    folder_ = mkdtemp(folder);
    catalog_ = Open("lake");
  }
  ~SqliteAppend() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<SqliteCatalog> Open(const std::string& name) {
    auto catalog = SqliteCatalog::Open(
        {.path = folder_ + "/catalog.db", .name = name, .warehouse = folder_ + "/w"}, &files_);
    EXPECT_TRUE(catalog.ok()) << catalog.status().ToString();
    return std::move(catalog).value();
  }
  LoadedTable Create(int format_version) {
    EXPECT_TRUE(catalog_->CreateNamespace({"db"}).ok());
    auto table = catalog_->CreateTable(kName, Definition(format_version));
    EXPECT_TRUE(table.ok()) << table.status().ToString();
    return std::move(table).value();
  }
  Result<AppendOutcome> Append(const std::string& path, int64_t epoch, const std::string& branch = "main",
                               int64_t generation = 1) {
    const auto table = catalog_->LoadTable(kName).value();
    const auto append = PrepareAppend(files_, table.metadata, 0, {File(path, 5)}).value();
    return CommitAppend(catalog_.get(), files_, kName, append, {"p", generation, epoch, R"({"t":7})"},
                        {.branch = branch});
  }

  std::string folder_;
  TableFiles files_;
  std::unique_ptr<SqliteCatalog> catalog_;
};

TEST_F(SqliteAppend, SnapshotsFollowEachOther) {
  for (int version : {2, 3}) {
    const LoadedTable created = Create(version);
    EXPECT_EQ(created.metadata.location, folder_ + "/w/db/t");
    ASSERT_TRUE(Append("/a", 1).ok());
    const auto second = Append("/b", 2);
    ASSERT_TRUE(second.ok()) << second.status().ToString();
    EXPECT_EQ(second->result, AppendResult::kCommitted);
    const LoadedTable table = catalog_->LoadTable(kName).value();
    EXPECT_THAT(table.metadata_location, HasSubstr("/metadata/00002-"));
    EXPECT_EQ(table.metadata.metadata_log.size(), 2u);
    EXPECT_EQ(table.metadata.metadata_log[0].metadata_file, created.metadata_location);
    EXPECT_EQ(table.metadata.snapshot_log.size(), 2u);
    EXPECT_EQ(table.metadata.last_sequence_number, 2);
    EXPECT_EQ(table.metadata.next_row_id, version == 3 ? 10 : 0);
    const Snapshot& head = *table.metadata.FindSnapshot(second->snapshot_id);
    EXPECT_EQ(head.summary.at("total-data-files"), "2");
    EXPECT_EQ(head.summary.at("total-records"), "10");
    EXPECT_EQ(head.summary.at("caudal.positions"), R"({"t":7})");
    const auto entries = EntriesOf(files_, head);
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].file.file_path, "/b");
    EXPECT_EQ(entries[0].sequence_number, 2);
    EXPECT_EQ(entries[1].sequence_number, 1);
    if (version == 3) {
      EXPECT_EQ(entries[0].file.first_row_id, 5);
      EXPECT_EQ(entries[1].file.first_row_id, 0);
    }
    ASSERT_TRUE(catalog_->DropTable(kName).ok());
  }
}

TEST_F(SqliteAppend, AnEpochIsCommittedOnceWhoeverRepeatsIt) {
  Create(2);
  const auto first = Append("/a", 1).value();
  const auto again = Append("/a", 1).value();
  EXPECT_EQ(again.result, AppendResult::kFound);
  EXPECT_EQ(again.snapshot_id, first.snapshot_id);
  ASSERT_TRUE(Append("/c", 3).ok());
  EXPECT_EQ(Append("/b", 2).value().result, AppendResult::kSuperseded);
  ASSERT_TRUE(Append("/d", 1, "main", 2).ok());
  EXPECT_EQ(Append("/z", 9, "main", 1).value().result, AppendResult::kSuperseded)
      << "a zombie of generation 1";
  EXPECT_EQ(catalog_->LoadTable(kName).value().metadata.snapshots.size(), 3u);
}

TEST_F(SqliteAppend, BranchesGoTheirOwnWay) {
  Create(3);
  ASSERT_TRUE(Append("/a", 1, "audit").ok());
  LoadedTable table = catalog_->LoadTable(kName).value();
  EXPECT_EQ(table.metadata.current_snapshot_id, std::nullopt);
  ASSERT_TRUE(Append("/a", 1).ok()) << "the token counts on its own branch";
  table = catalog_->LoadTable(kName).value();
  EXPECT_EQ(table.metadata.refs.size(), 2u);
  EXPECT_EQ(table.metadata.next_row_id, 10);
}

TEST_F(SqliteAppend, TwoCatalogsOnOneFileTakeTurns) {
  Create(2);
  auto other = Open("lake");
  const LoadedTable stale = other->LoadTable(kName).value();
  ASSERT_TRUE(Append("/a", 1).ok());
  TableCommit commit;
  commit.requirements = {AssertRefSnapshotId{"main", stale.metadata.current_snapshot_id}};
  commit.updates = {SetProperties{{{"k", "v"}}}};
  const CommitAnswer answer = other->Commit(kName, commit);
  EXPECT_EQ(answer.outcome, CommitOutcome::kRefused);
  EXPECT_EQ(answer.status.retry(), Retry::kBackoff);
  EXPECT_THAT(answer.status.message(), HasSubstr("the branch 'main' is at snapshot"));
  commit.requirements = {};
  EXPECT_EQ(other->Commit(kName, commit).outcome, CommitOutcome::kDone);
  EXPECT_EQ(catalog_->LoadTable(kName).value().metadata.properties.at("k"), "v");
}

// Counts what is read of metadata.
class MetadataReads : public MemoryFileSystem {
 public:
  using MemoryFileSystem::MemoryFileSystem;
  Result<std::string> ReadAll(const std::string& path) override {
    if (path.ends_with(".metadata.json")) ++count;
    return MemoryFileSystem::ReadAll(path);
  }
  int count = 0;
};

TEST_F(SqliteAppend, AWriterReadsNoMetadataThatItWrote) {
  MetadataReads memory(Env::Real());
  const TableFiles files(&memory, Env::Real());
  const auto open = [&] {
    return SqliteCatalog::Open({.path = folder_ + "/reads.db", .warehouse = "/w"}, &files).value();
  };
  const auto ours = open(), others = open();
  ASSERT_TRUE(ours->CreateNamespace({"db"}).ok());
  const LoadedTable table = ours->CreateTable(kName, Definition(3)).value();
  const auto append = [&](SqliteCatalog* catalog, int64_t epoch) {
    const auto prepared =
        PrepareAppend(files, table.metadata, 0, {File("/" + std::to_string(epoch), 5)}).value();
    return CommitAppend(catalog, files, kName, prepared, {"p", 1, epoch, ""}, {}).value().attempts;
  };
  for (int64_t epoch = 1; epoch <= 5; ++epoch) EXPECT_EQ(append(ours.get(), epoch), 1);
  EXPECT_EQ(memory.count, 1) << "what was created, once";
  EXPECT_EQ(append(others.get(), 6), 1);
  EXPECT_EQ(append(ours.get(), 7), 1);
  EXPECT_EQ(memory.count, 3) << "what somebody else wrote is read, once each";
  EXPECT_EQ(others->LoadTable(kName).value().metadata, ours->LoadTable(kName).value().metadata);
}

TEST_F(SqliteAppend, MetadataIsPackedAndForgottenAsTheTableSays) {
  Create(3);
  const auto set = [&](const std::string& name, const std::string& value) {
    const CommitAnswer answer = catalog_->Commit(kName, {{}, {SetProperties{{{name, value}}}}});
    return answer.status;
  };
  const auto metadata = [&] {
    std::set<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder_ + "/w/db/t/metadata")) {
      if (file.path().string().ends_with(".metadata.json")) names.insert(file.path().filename());
    }
    return names;
  };
  ASSERT_TRUE(set("write.metadata.compression-codec", "gzip").ok());
  for (int64_t epoch = 1; epoch <= 4; ++epoch) ASSERT_TRUE(Append("/" + std::to_string(epoch), epoch).ok());
  EXPECT_EQ(metadata().size(), 6u) << "all are kept unless the table says otherwise";
  const LoadedTable packed = catalog_->LoadTable(kName).value();
  EXPECT_THAT(packed.metadata_location, testing::EndsWith(".gz.metadata.json"));
  EXPECT_EQ(files_.ReadMetadata(packed.metadata_location).value(), packed.metadata);
  ASSERT_TRUE(set("write.metadata.previous-versions-max", "2").ok());
  ASSERT_TRUE(set("write.metadata.delete-after-commit.enabled", "true").ok());
  for (int64_t epoch = 5; epoch <= 9; ++epoch) ASSERT_TRUE(Append("/" + std::to_string(epoch), epoch).ok());
  const LoadedTable table = catalog_->LoadTable(kName).value();
  std::set<std::string> named = {std::filesystem::path(table.metadata_location).filename()};
  for (const MetadataLogEntry& entry : table.metadata.metadata_log)
    named.insert(std::filesystem::path(entry.metadata_file).filename());
  EXPECT_EQ(named.size(), 3u);
  std::set<std::string> there = metadata();
  EXPECT_TRUE(std::includes(there.begin(), there.end(), named.begin(), named.end()));
  EXPECT_EQ(there.size(), 7u) << "and what fell out of the log before that was said";
  const Status refused = set("write.metadata.compression-codec", "snappy");
  EXPECT_THAT(refused.ToString(), HasSubstr("'write.metadata.compression-codec' = 'snappy'"));
}

TEST_F(SqliteAppend, WhatIsNotThereIsNamed) {
  EXPECT_THAT(catalog_->CreateTable(kName, Definition(2)).status().ToString(),
              HasSubstr("there is no namespace 'db'"));
  Create(2);
  EXPECT_THAT(catalog_->CreateTable(kName, Definition(2)).status().ToString(),
              HasSubstr("the table 'db.t' is there already"));
  EXPECT_THAT(catalog_->LoadTable({{"db"}, "T"}).status().ToString(),
              HasSubstr("hint: 'db.t' differs by case alone"));
  EXPECT_THAT(Open("other")->LoadTable(kName).status().ToString(),
              HasSubstr("there is no table 'db.t' in the catalog 'other'\n  hint: this file has it under the "
                        "catalog name 'lake'"));
  EXPECT_EQ(catalog_->ListTables({"db"}).value(), std::vector<std::string>{"t"});
  EXPECT_EQ(catalog_->ListNamespaces().value().size(), 1u);
  const auto append =
      PrepareAppend(files_, catalog_->LoadTable(kName).value().metadata, 0, {File("/a", 1)}).value();
  ASSERT_TRUE(catalog_->DropTable(kName).ok());
  Create(2);
  EXPECT_THAT(CommitAppend(catalog_.get(), files_, kName, append, {"p", 1, 1, ""}, {}).status().ToString(),
              HasSubstr("it was dropped and made again"));
}

TEST(TableFiles, LocationsAreTakenAsTheyAreWritten) {
  EXPECT_EQ(PathOf("/a b/c").value(), "/a b/c");
  EXPECT_EQ(PathOf("file:/a%20b").value(), "/a%20b");
  EXPECT_EQ(PathOf("file:///a").value(), "/a");
  EXPECT_EQ(PathOf("file://localhost/a").value(), "/a");
  EXPECT_EQ(PathOf("rel/a:b").value(), "rel/a:b");
  EXPECT_EQ(PathOf("s3://b/k").value(), "s3://b/k");
  EXPECT_EQ(PathOf("s3a://b/k").value(), "s3://b/k") << "one object has one path, whoever wrote its name";
  EXPECT_EQ(PathOf("s3n://b/k").value(), "s3://b/k");
  EXPECT_THAT(PathOf("gs://b/k").status().ToString(), HasSubstr("locations of 'gs:' are not read"));
  EXPECT_EQ(MetadataVersion("/t/metadata/00012-abc.metadata.json"), 12);
  EXPECT_EQ(MetadataVersion("v3.metadata.json"), 3);
  EXPECT_EQ(MetadataVersion("x"), -1);
}

TEST(TableFiles, GzippedMetadataIsReadAndDamageNamed) {
  const std::filesystem::path fixtures =
      std::filesystem::path(__FILE__).parent_path() / "../../../test/fixtures/iceberg";
  const TableFiles local(FileSystem::Local(), Env::Real());
  const std::string packed = (fixtures / "gzip/00001-a.gz.metadata.json").string();
  const auto table = local.ReadMetadata(packed);
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  EXPECT_EQ(*table, *local.ReadMetadata((fixtures / "v3_minimal.metadata.json").string()));

  ManualEnv env;
  MemoryFileSystem memory(&env);
  const TableFiles files(&memory, &env);
  const std::string bytes = local.Read(packed).value();
  for (size_t size : {size_t{5}, bytes.size() / 2, bytes.size() - 1}) {
    const std::string location = "/t/" + std::to_string(size) + ".gz.metadata.json";
    ASSERT_TRUE(files.Write(location, bytes.substr(0, size)).ok());
    EXPECT_EQ(files.ReadMetadata(location).status().ToString(),
              "error[data]: the gzipped metadata is damaged or cut\n  at metadata file '" + location + "'");
  }
}

}  // namespace
}  // namespace caudal::iceberg
