// Commits that take rows away, through a catalog that loses answers, is late and reads stale metadata, beside
// another writer of the same keys and one that compacts.
#include "iceberg/commit/row_delta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "fs/memory_file_system.h"
#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/deletes/position_deletes.h"
#include "iceberg/deletes/puffin.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/scan/scan_plan.h"
#include "iceberg/testing/bad_catalog.h"

namespace caudal::iceberg {
namespace {

using testing::HasSubstr;

constexpr int kKeys = 12, kRowsOfAnEpoch = 4, kEpochs = 8;

// A row of a data file whose bytes nobody needs: the test knows what stands in it.
struct Row {
  int key = 0, pipeline = 0, epoch = 0;
};
using RowsOfFiles = std::map<std::string, std::vector<Row>>;

struct Place {
  std::string path;
  int64_t position = 0;
  Row row;
};

// The live rows of a snapshot, as a reader finds them.
Result<std::vector<Place>> LiveRows(const TableFiles& files, const TableMetadata& table,
                                    const Snapshot& snapshot, const RowsOfFiles& contents) {
  ASSIGN_OR_RETURN(const ScanPlan plan, PlanScan(files, table, snapshot));
  std::vector<Place> live;
  for (const ScanFile& file : plan.files) {
    const std::string& path = file.data.file.file_path;
    PositionSet gone;
    for (const size_t number : file.deletes) {
      const DataFile& deletes = plan.deletes[number].file;
      if (deletes.is_deletion_vector()) {
        ASSIGN_OR_RETURN(const PositionSet vector, ReadDeletionVector(files.file_system(), deletes));
        gone.AddAll(vector);
      } else {
        RETURN_IF_ERROR(AddDeletedPositions(files.file_system(), deletes, path, &gone));
      }
    }
    const std::vector<Row>& rows = contents.at(path);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto position = static_cast<int64_t>(i);
      if (!gone.Contains(position)) live.push_back({path, position, rows[i]});
    }
  }
  return live;
}

// Where the head has the keys of some rows.
class KeySearch : public RowDeletes {
 public:
  KeySearch(const TableFiles* files, const RowsOfFiles* contents, std::vector<Row> rows)
      : files_(files), contents_(contents) {
    for (const Row& row : rows) keys_.insert(row.key);
  }
  Result<DeletedRows> Find(const TableMetadata& table, const Snapshot* head) override {
    DeletedRows rows;
    if (head == nullptr) return rows;
    ASSIGN_OR_RETURN(const std::vector<Place> live, LiveRows(*files_, table, *head, *contents_));
    for (const Place& place : live) {
      if (keys_.contains(place.row.key)) rows[place.path].Add(place.position);
    }
    return rows;
  }

 private:
  const TableFiles* files_;
  const RowsOfFiles* contents_;
  std::set<int> keys_;
};

struct Plants {
  bool ignore_head = false;       // a stale head may be asserted
  bool keep_old_vectors = false;  // a vector that was replaced stays
  bool do_not_merge = false;      // the new vector has the new positions alone
};

class Life {
 public:
  Life(uint64_t seed, int format_version, const Plants& plants)
      : env_(1, seed),
        memory_(&env_),
        files_(&memory_, &env_),
        catalog_(&files_, seed),
        random_(seed + 1),
        version_(format_version) {
    NewTable definition = Definition(format_version);
    definition.properties["commit.manifest.min-count-to-merge"] = std::to_string(2 + seed % 7);
    definition.properties["commit.retry.num-retries"] = std::to_string(random_() % 4);
    (void)catalog_.CreateTable(kName, definition).ok();
    catalog_.ignore_head = plants.ignore_head;
    if (plants.keep_old_vectors || plants.do_not_merge) {
      catalog_.falsify = [this, plants](TableCommit* commit, const TableMetadata& table) {
        Falsify(plants, commit, table);
      };
    }
  }

  // Empty if every key is there once, as the last commit left it; else what is wrong.
  std::string Run() {
    for (int epoch = 0; epoch < kEpochs && wrong_.empty(); ++epoch) {
      catalog_.meanwhile = [this, epoch] {
        Upsert(1, epoch);
        if (random_() % 2 == 0) Compact();
      };
      Upsert(0, epoch);
      if (catalog_.meanwhile) std::exchange(catalog_.meanwhile, nullptr)();
    }
    catalog_.Deliver();
    return wrong_.empty() ? Check() : wrong_;
  }

 private:
  void Upsert(int pipeline, int epoch) {
    const std::string path = "/d/" + std::to_string(pipeline) + "-" + std::to_string(epoch);
    std::vector<Row>& rows = contents_[path];
    std::set<int> keys;
    while (keys.size() < kRowsOfAnEpoch) keys.insert(static_cast<int>(random_() % kKeys));
    for (const int key : keys) rows.push_back({key, pipeline, epoch});
    keys_of_[{pipeline, epoch}] = keys;
    const auto append = PrepareAppend(files_, catalog_.table(), 0, {File(path, kRowsOfAnEpoch, epoch % 2)});
    if (!append.ok()) return void(wrong_ = append.status().ToString());
    const PipelineToken token{"p" + std::to_string(pipeline), 1, epoch, "{}"};
    HeadFiles fresh;
    for (int tries = 0;; ++tries) {
      if (random_() % 4 == 0) catalog_.Deliver();
      KeySearch search(&files_, &contents_, rows);
      HeadFiles* known = random_() % 3 == 0 ? &fresh : &known_;  // a restart remembers nothing
      const auto outcome = CommitRowDelta(&catalog_, files_, kName, *append, &search, known, token, {});
      if (outcome.ok() && random_() % 5 != 0) return;
      if (!outcome.ok() && outcome.status().retry() != Retry::kBackoff)
        return void(wrong_ = outcome.status().ToString());
      if (tries == 200) return void(wrong_ = "no end");
    }
  }

  // All live rows of one partition in one new file, and none of its deletes.
  void Compact() {
    const TableMetadata table = catalog_.table();
    if (!table.current_snapshot_id) return;
    const Snapshot& head = *table.FindSnapshot(*table.current_snapshot_id);
    const auto live = LiveRows(files_, table, head, contents_);
    if (!live.ok()) return;
    const int64_t partition = static_cast<int64_t>(random_() % 2);
    const std::string path = "/d/compacted-" + std::to_string(compactions_++);
    ManifestWriter data = Writer(table, ManifestContent::kData),
                   deletes = Writer(table, ManifestContent::kDeletes);
    std::set<std::string> gone;
    for (ManifestEntry& entry : EntriesOf(files_, head)) {
      if (entry.status == EntryStatus::kDeleted) continue;
      const bool is_data = entry.file.content == FileContent::kData;
      entry.status = EntryStatus::kExisting;
      if (entry.file.partition == std::vector<Value>{Value(partition)}) {
        if (!is_data) continue;  // what it says is in the new file
        entry.status = EntryStatus::kDeleted;
        gone.insert(entry.file.file_path);
      }
      if (!(is_data ? data : deletes).Add(entry).ok()) return void(wrong_ = "no compaction");
    }
    for (const Place& place : *live) {
      if (gone.contains(place.path)) contents_[path].push_back(place.row);
    }
    if (contents_[path].empty()) return;
    (void)data.Add({.file = File(path, static_cast<int64_t>(contents_[path].size()), partition)}).ok();
    Snapshot snapshot{.snapshot_id = static_cast<int64_t>(env_.Random() >> 1), .schema_id = 0};
    snapshot.parent_snapshot_id = head.snapshot_id;
    snapshot.sequence_number = table.last_sequence_number + 1;
    snapshot.timestamp_ms = NextTimestamp(table, 1);
    snapshot.summary = {{"operation", "replace"}};
    snapshot.manifest_list = path + ".list";
    std::vector<ManifestFile> manifests;
    for (ManifestWriter* writer : {&data, &deletes}) {
      ManifestWriter::Written written = writer->Finish().value();
      written.manifest.manifest_path = path + (writer == &data ? ".data" : ".deletes");
      (void)files_.Write(written.manifest.manifest_path, written.bytes).ok();
      manifests.push_back(written.manifest);
    }
    WriteList(table, manifests, &snapshot);
    TableCommit commit;
    commit.requirements = {AssertTableUuid{table.table_uuid}, AssertRefSnapshotId{"main", head.snapshot_id}};
    commit.updates = {AddSnapshot{snapshot}, SetSnapshotRef{"main", {snapshot.snapshot_id, "branch"}}};
    (void)catalog_.Commit(kName, commit);
  }

  static ManifestWriter Writer(const TableMetadata& table, ManifestContent content) {
    return ManifestWriter::Make(table.schemas[0], table.partition_specs[0],
                                {.format_version = table.format_version, .content = content})
        .value();
  }

  void WriteList(const TableMetadata& table, const std::vector<ManifestFile>& manifests, Snapshot* snapshot) {
    const auto list = WriteManifestList(manifests, {.format_version = version_,
                                                    .snapshot_id = snapshot->snapshot_id,
                                                    .parent_snapshot_id = snapshot->parent_snapshot_id,
                                                    .sequence_number = snapshot->sequence_number,
                                                    .first_row_id = table.next_row_id});
    (void)files_.Write(snapshot->manifest_list, list->bytes).ok();
    if (version_ < 3) return;
    snapshot->first_row_id = table.next_row_id;
    snapshot->added_rows = list->added_rows;
  }

  std::vector<ManifestFile> List(const Snapshot& snapshot) const {
    return ReadManifestList(files_.Read(snapshot.manifest_list).value(), "").value();
  }

  // What a writer with the fault would have sent.
  void Falsify(const Plants& plants, TableCommit* commit, const TableMetadata& table) {
    auto& snapshot = std::get<AddSnapshot>(commit->updates[0]).snapshot;
    const Snapshot* parent =
        table.current_snapshot_id ? table.FindSnapshot(*table.current_snapshot_id) : nullptr;
    if (parent == nullptr || snapshot.summary.at("operation") != "overwrite") return;
    std::vector<ManifestFile> manifests = List(snapshot);
    if (plants.keep_old_vectors) {
      for (const ManifestFile& old : List(*parent)) {
        const auto same = [&](const ManifestFile& one) { return one.manifest_path == old.manifest_path; };
        const bool there = std::any_of(manifests.begin(), manifests.end(), same);
        if (!there && old.content == ManifestContent::kDeletes) manifests.push_back(old);
      }
    } else {
      for (ManifestFile& manifest : manifests) {
        if (manifest.content == ManifestContent::kDeletes) Unmerge(table, snapshot, &manifest);
      }
    }
    snapshot.manifest_list += "-false" + std::to_string(falsified_++);
    WriteList(table, manifests, &snapshot);
  }

  // The manifest's new vectors without what those that they replace held.
  void Unmerge(const TableMetadata& table, const Snapshot& snapshot, ManifestFile* manifest) {
    std::vector<ManifestEntry> entries;
    if (manifest->added_snapshot_id != snapshot.snapshot_id) return;
    const std::string bytes = files_.Read(manifest->manifest_path).value();
    const auto reader = ManifestReader::Open(bytes, *manifest).value();
    while (auto entry = reader->Next().value()) entries.push_back(*entry);
    ManifestWriter writer = Writer(table, ManifestContent::kDeletes);
    for (ManifestEntry entry : entries) {
      if (entry.status == EntryStatus::kAdded) {
        PositionSet fresh;
        const PositionSet all = ReadDeletionVector(&memory_, entry.file).value();
        for (const int64_t position : all.ToVector()) {
          const bool old = std::any_of(entries.begin(), entries.end(), [&](const ManifestEntry& other) {
            return other.status == EntryStatus::kDeleted &&
                   other.file.referenced_data_file == entry.file.referenced_data_file &&
                   ReadDeletionVector(&memory_, other.file)->Contains(position);
          });
          if (!old) fresh.Add(position);
        }
        PuffinWriter puffin;
        const PuffinBlob blob = puffin.AddDeletionVector(EncodeDeletionVector(fresh),
                                                         *entry.file.referenced_data_file, fresh.size());
        entry.file.file_path += "-false" + std::to_string(falsified_++);
        entry.file.content_offset = blob.offset;
        entry.file.content_size_in_bytes = blob.length;
        entry.file.record_count = fresh.size();
        (void)files_.Write(entry.file.file_path, puffin.Finish("a fault")).ok();
        entry.sequence_number = entry.file_sequence_number = entry.snapshot_id = std::nullopt;
      }
      (void)writer.Add(entry).ok();
    }
    ManifestWriter::Written written = writer.Finish().value();
    written.manifest.manifest_path = manifest->manifest_path + "-false" + std::to_string(falsified_++);
    (void)files_.Write(written.manifest.manifest_path, written.bytes).ok();
    *manifest = written.manifest;
  }

  std::string Check() {
    const TableMetadata& table = catalog_.table();
    const Snapshot& head = *table.FindSnapshot(*table.current_snapshot_id);
    // Who wrote each key last, by the history.
    std::map<int, std::pair<int, int>> owner;
    std::set<std::pair<int, int>> epochs;
    std::vector<const Snapshot*> history;
    for (const Snapshot* at = &head; at != nullptr;
         at = at->parent_snapshot_id ? table.FindSnapshot(*at->parent_snapshot_id) : nullptr) {
      history.push_back(at);
    }
    std::reverse(history.begin(), history.end());
    for (const Snapshot* snapshot : history) {
      const auto token = TokenOf(*snapshot);
      if (!token) continue;
      const std::pair<int, int> epoch{token->pipeline == "p1", static_cast<int>(token->epoch)};
      if (!epochs.insert(epoch).second) return "an epoch is there twice";
      for (const int key : keys_of_.at(epoch)) owner[key] = epoch;
    }
    if (epochs.size() != 2 * kEpochs) return "epochs are missing";
    const auto live = LiveRows(files_, table, head, contents_);
    if (!live.ok()) return live.status().ToString();
    std::map<int, std::pair<int, int>> found;
    for (const Place& place : *live) {
      if (!found.emplace(place.row.key, std::pair(place.row.pipeline, place.row.epoch)).second)
        return "a key is there twice";
    }
    if (found != owner) return "a key is not as the last commit left it";
    const auto total = head.summary.find("total-records");
    if (compactions_ == 0 && total != head.summary.end()) {
      const int64_t deleted = std::stoll(head.summary.at("total-position-deletes"));
      const bool fits = std::stoll(total->second) - deleted == static_cast<int64_t>(live->size());
      if (!fits) return "the totals are wrong";
    }
    for (size_t i = 0; i < table.snapshots.size(); i += 5) {
      const Snapshot& snapshot = table.snapshots[i];
      if (const auto rows = LiveRows(files_, table, snapshot, contents_); !rows.ok())
        return "an older snapshot cannot be read: " + rows.status().ToString();
    }
    return "";
  }

  ManualEnv env_;
  MemoryFileSystem memory_;
  TableFiles files_;
  BadCatalog catalog_;
  std::mt19937_64 random_;
  int version_;
  HeadFiles known_;
  RowsOfFiles contents_;
  std::map<std::pair<int, int>, std::set<int>> keys_of_;  // by pipeline and epoch
  int compactions_ = 0, falsified_ = 0;
  std::string wrong_;
};

TEST(RowDeltaSimulation, EveryKeyIsThereOnceAsTheLastCommitLeftIt) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    ASSERT_EQ(Life(seed, seed % 4 == 0 ? 2 : 3, {}).Run(), "") << "seed " << seed;
  }
}

TEST(RowDeltaSimulation, PlantedFaultsAreCaught) {
  struct Fault {
    Plants plants;
    int format_version;  // in 3 a catalog refuses a stale head by its row ids too
    const char* name;
  };
  const Fault faults[] = {{{.ignore_head = true}, 2, "a stale head is asserted"},
                          {{.keep_old_vectors = true}, 3, "an old vector stays"},
                          {{.do_not_merge = true}, 3, "vectors are not merged"}};
  for (const Fault& fault : faults) {
    int caught = 0;
    for (uint64_t seed = 0; seed < 10; ++seed)
      caught += Life(seed, fault.format_version, fault.plants).Run().empty() ? 0 : 1;
    EXPECT_GT(caught, 5) << fault.name;
  }
}

// Rows by number, of one table in memory.
class RowDelta : public testing::Test {
 protected:
  RowDelta() : files_(&memory_, &env_), catalog_(&files_, 0) {}

  void Create(int format_version) { (void)catalog_.CreateTable(kName, Definition(format_version)).ok(); }
  // Found by the test itself.
  class Given : public RowDeletes {
   public:
    explicit Given(std::map<std::string, std::vector<int64_t>> rows) : rows_(std::move(rows)) {}
    Result<DeletedRows> Find(const TableMetadata&, const Snapshot*) override {
      DeletedRows found;
      for (const auto& [path, positions] : rows_) {
        for (const int64_t position : positions) found[path].Add(position);
      }
      return found;
    }

   private:
    std::map<std::string, std::vector<int64_t>> rows_;
  };
  Result<AppendOutcome> Commit(const std::vector<DataFile>& data,
                               std::map<std::string, std::vector<int64_t>> rows) {
    Given deletes(std::move(rows));
    const auto append = PrepareAppend(files_, catalog_.table(), 0, data).value();
    const PipelineToken token{"p", 1, ++epoch_, ""};
    for (;;) {
      const auto outcome = CommitRowDelta(&catalog_, files_, kName, append, &deletes, &known_, token, {});
      const bool again = !outcome.ok() && outcome.status().retry() == Retry::kBackoff &&
                         outcome.status().message().find("no longer has") == std::string::npos;
      if (!again) return outcome;
    }
  }
  const Snapshot& head() const {
    return *catalog_.table().FindSnapshot(*catalog_.table().current_snapshot_id);
  }

  ManualEnv env_{1, 7};
  MemoryFileSystem memory_{&env_};
  TableFiles files_;
  BadCatalog catalog_;
  HeadFiles known_;
  int64_t epoch_ = 0;
};

TEST_F(RowDelta, AFileHasOneVectorWhichHoldsWhatTheFormerHeld) {
  Create(3);
  ASSERT_TRUE(Commit({File("/a", 5, 0), File("/b", 5, 1)}, {{"/a", {4}}}).ok()) << "of its own file";
  EXPECT_EQ(head().summary.at("operation"), "overwrite");
  ASSERT_TRUE(Commit({}, {{"/a", {0, 4}}, {"/b", {2}}}).ok());
  EXPECT_EQ(head().summary.at("operation"), "delete");
  EXPECT_EQ(head().summary.at("added-dvs"), "2");
  EXPECT_EQ(head().summary.at("removed-dvs"), "1");
  EXPECT_EQ(head().summary.at("total-delete-files"), "2");
  EXPECT_EQ(head().summary.at("total-position-deletes"), "3");
  EXPECT_EQ(head().summary.at("changed-partition-count"), "2");
  const ScanPlan plan = PlanScan(files_, catalog_.table(), head()).value();
  ASSERT_EQ(plan.deletes.size(), 2u);
  EXPECT_EQ(ReadDeletionVector(&memory_, plan.deletes[0].file)->ToVector(), (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(plan.deletes[1].file.partition, std::vector<Value>{Value(int64_t{1})});
  EXPECT_EQ(plan.deletes[0].file.file_path, plan.deletes[1].file.file_path) << "one file of Puffin a commit";
}

TEST_F(RowDelta, WhatIsGoneAlreadyMakesNoSnapshot) {
  Create(3);
  ASSERT_TRUE(Commit({File("/a", 5)}, {}).ok());
  ASSERT_TRUE(Commit({}, {{"/a", {1}}}).ok());
  const size_t snapshots = catalog_.table().snapshots.size();
  EXPECT_EQ(Commit({}, {{"/a", {1}}})->snapshot_id, 0);
  EXPECT_EQ(Commit({}, {})->snapshot_id, 0);
  EXPECT_EQ(catalog_.table().snapshots.size(), snapshots);
}

TEST_F(RowDelta, PositionDeletesAreFilesOfAPartition) {
  Create(2);
  ASSERT_TRUE(Commit({File("/b", 5, 0), File("/a", 5, 0), File("/c", 5, 1)}, {}).ok());
  ASSERT_TRUE(Commit({}, {{"/b", {3, 1}}, {"/a", {4}}, {"/c", {0}}}).ok());
  EXPECT_EQ(head().summary.at("added-position-delete-files"), "2");
  EXPECT_EQ(head().summary.count("added-dvs"), 0u);
  const ScanPlan plan = PlanScan(files_, catalog_.table(), head()).value();
  ASSERT_EQ(plan.deletes.size(), 2u);
  const DataFile& both = plan.deletes[0].file;
  EXPECT_EQ(both.record_count, 3);
  EXPECT_EQ(both.lower_bounds.at(kDeletedPathId), "/a");
  EXPECT_EQ(both.upper_bounds.at(kDeletedPathId), "/b");
  EXPECT_EQ(both.referenced_data_file, std::nullopt);
  EXPECT_EQ(plan.deletes[1].file.referenced_data_file, "/c");
  PositionSet rows;
  ASSERT_TRUE(AddDeletedPositions(&memory_, both, "/b", &rows).ok());
  EXPECT_EQ(rows.ToVector(), (std::vector<int64_t>{1, 3}));
}

TEST_F(RowDelta, AFileThatIsGoneIsNamedAndNothingLeftBehind) {
  Create(3);
  ASSERT_TRUE(Commit({File("/a", 5)}, {}).ok());
  const auto before = memory_.Paths();
  const auto outcome = Commit({}, {{"/a", {1}}, {"/x", {0}}});
  EXPECT_THAT(outcome.status().message(),
              HasSubstr("rows of '/x' are to be deleted, which the table no longer has"));
  EXPECT_EQ(memory_.Paths(), before);
  EXPECT_THAT(Commit({}, {{"/a", {5}}}).status().message(),
              HasSubstr("row 5 of '/a' is to be deleted, which has 5"));
}

}  // namespace
}  // namespace caudal::iceberg
