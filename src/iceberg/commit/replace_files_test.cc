// Files in the place of others: the same rows, whoever commits meanwhile.
#include "iceberg/commit/replace_files.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/deletes/position_deletes.h"
#include "iceberg/maintenance/table_check.h"
#include "iceberg/scan/scan_plan.h"
#include "iceberg/testing/between.h"
#include "iceberg/testing/small_table.h"

namespace caudal::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(RowMoves, ARowIsFoundInItsNewFile) {
  FileReplacement group;
  group.from = {{"/a", 4, {1}}, {"/b", 3, {}}, {"/c", 2, {0, 1}}, {"/d", 1, {}}};
  group.to = {{.file_path = "/x", .record_count = 4}, {.file_path = "/y", .record_count = 3}};
  const RowMoves moves(&group);
  const auto find = [&](size_t from, int64_t position) {
    const auto place = moves.Find(from, position);
    return place ? group.to[place->file].file_path + " " + std::to_string(place->position) : "gone";
  };
  EXPECT_EQ(find(0, 0), "/x 0");
  EXPECT_EQ(find(0, 1), "gone");
  EXPECT_EQ(find(0, 3), "/x 2");
  EXPECT_EQ(find(1, 0), "/x 3");
  EXPECT_EQ(find(1, 2), "/y 1");
  EXPECT_EQ(find(2, 1), "gone");
  EXPECT_EQ(find(3, 0), "/y 2");
  EXPECT_EQ(find(3, 1), "gone") << "it has no such row";
  group.order = {6, 5, 4, 3, 2, 1, 0};
  EXPECT_EQ(find(0, 0), "/y 2");
  EXPECT_EQ(find(3, 0), "/x 0");
}

class ReplaceFilesTest : public testing::TestWithParam<int> {
 protected:
  ReplaceFilesTest() : small_(GetParam()) {}

  Snapshot Head() {
    const TableMetadata table = small_.table();
    return *table.FindSnapshot(*table.current_snapshot_id);
  }
  // Two files, of which the first row is gone, as one. The rows are those of now.
  FileReplacement Group() {
    FileReplacement group;
    group.from = {{a_.file_path, 5, {0}}, {b_.file_path, 5, {}}};
    group.to = {small_.Write(next_, 9, 0)};
    next_ += 100;
    group.sequence_number = Head().sequence_number;
    group.snapshot_id = Head().snapshot_id;
    return group;
  }
  void MakeTwoFiles() {
    a_ = small_.Write(0, 5, 0);
    b_ = small_.Write(5, 5, 0);
    small_.Commit({a_, b_, small_.Write(50, 5, 1)});
    small_.Commit({}, {{a_.file_path, {0}}});
  }
  Result<ReplaceOutcome> Replace(const std::vector<FileReplacement>& groups, Catalog* catalog = nullptr) {
    HeadFiles known;
    return ReplaceFiles(catalog == nullptr ? small_.catalog_.get() : catalog, small_.files_, kName,
                        small_.table().table_uuid, groups, &known, {});
  }
  // "file: positions", of every file of the head's and what is deleted in it.
  std::vector<std::string> Live() {
    const TableMetadata table = small_.table();
    const ScanPlan plan = PlanScan(small_.files_, table, Head()).value();
    std::vector<std::string> live;
    for (const ScanFile& file : plan.files) {
      PositionSet gone;
      for (const size_t number : file.deletes) {
        const DataFile& one = plan.deletes[number].file;
        if (one.is_deletion_vector()) {
          gone.AddAll(ReadDeletionVector(&small_.memory_, one).value());
        } else {
          EXPECT_TRUE(AddDeletedPositions(&small_.memory_, one, file.data.file.file_path, &gone).ok());
        }
      }
      std::string text = file.data.file.file_path.substr(file.data.file.file_path.rfind('/') + 1) + ":";
      for (const int64_t position : gone.ToVector()) text += " " + std::to_string(position);
      live.push_back(text);
    }
    return live;
  }
  void ExpectWhole() {
    const auto check = CheckTable(small_.files_, small_.table(), {.all = true});
    ASSERT_TRUE(check.ok()) << check.status().ToString();
    for (const Violation& one : check->violations) ADD_FAILURE() << one.place << ": " << one.what;
  }
  size_t LiveDeletes() { return PlanScan(small_.files_, small_.table(), Head())->deletes.size(); }

  SmallTable small_;
  DataFile a_, b_;
  int64_t next_ = 1000;
};
INSTANTIATE_TEST_SUITE_P(Formats, ReplaceFilesTest, testing::Values(2, 3));

TEST_P(ReplaceFilesTest, ManifestsAreOfTheSizeThatTheTableWants) {
  MakeTwoFiles();
  const CommitAnswer set =
      small_.catalog_->Commit(kName, {{}, {SetProperties{{{"commit.manifest.target-size-bytes", "1"}}}}});
  ASSERT_EQ(set.outcome, CommitOutcome::kDone);
  ASSERT_EQ(Replace({Group()})->committed, std::vector<bool>{true});
  const auto manifests = ReadManifestList(small_.files_.Read(Head().manifest_list).value(), "").value();
  EXPECT_GE(manifests.size(), 5u) << "one for the new file, one for each of the three old, one of deletes";
  for (const ManifestFile& one : manifests)
    EXPECT_EQ(one.added_files_count + one.existing_files_count + one.deleted_files_count, 1);
  EXPECT_THAT(Live(), testing::UnorderedElementsAre("1000.parquet:", "50.parquet:"));
  ExpectWhole();
}

TEST_P(ReplaceFilesTest, TheRowsAreInTheNewFileAndOldDeletesGo) {
  MakeTwoFiles();
  const FileReplacement group = Group();
  const auto outcome = Replace({group});
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_THAT(outcome->committed, ElementsAre(true));
  EXPECT_EQ(outcome->outdated.files, 1);
  EXPECT_EQ(outcome->moved_deletes, 0);
  EXPECT_THAT(Live(), UnorderedElementsAre("1000.parquet:", "50.parquet:"));
  EXPECT_EQ(LiveDeletes(), 0u);
  const Snapshot head = Head();
  EXPECT_EQ(head.summary.at("operation"), "replace");
  EXPECT_EQ(head.summary.at("total-records"), "14");
  EXPECT_EQ(head.summary.at("total-data-files"), "2");
  EXPECT_EQ(head.summary.at("total-delete-files"), "0");
  EXPECT_EQ(head.summary.at("deleted-data-files"), "2");
  for (const ManifestEntry& entry : EntriesOf(small_.files_, head)) {
    if (entry.status != EntryStatus::kAdded) continue;
    EXPECT_EQ(entry.sequence_number, group.sequence_number) << "that of what was read";
    EXPECT_EQ(entry.file_sequence_number, head.sequence_number);
  }
  ExpectWhole();
}

TEST_P(ReplaceFilesTest, WhatOthersDidMeanwhileStays) {
  MakeTwoFiles();
  const FileReplacement group = Group();
  // Rows of both files and of a file that is not rewritten, and one more file.
  small_.Commit({small_.Write(70, 5, 0)}, {{a_.file_path, {4}}, {b_.file_path, {0, 2}}});
  const auto outcome = Replace({group});
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_EQ(outcome->moved_deletes, 3);
  EXPECT_THAT(Live(), UnorderedElementsAre("1000.parquet: 3 4 6", "50.parquet:", "70.parquet:"));
  ExpectWhole();
  // Writers go on upon it.
  small_.Commit({}, {{group.to[0].file_path, {8}}});
  EXPECT_THAT(Live(), UnorderedElementsAre("1000.parquet: 3 4 6 8", "50.parquet:", "70.parquet:"));
  ExpectWhole();
}

TEST_P(ReplaceFilesTest, AGroupWhoseFilesAreGoneIsLeftOutWithItsNewFiles) {
  MakeTwoFiles();
  const FileReplacement first = Group(), second = Group();
  FileReplacement other;
  other.from = {{"/w/db/t/data/50.parquet", 5, {}}};
  other.to = {small_.Write(3000, 5, 1)};
  other.sequence_number = Head().sequence_number;
  other.snapshot_id = Head().snapshot_id;
  ASSERT_TRUE(Replace({first}).ok());
  const auto outcome = Replace({second, other});
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_THAT(outcome->committed, ElementsAre(false, true));
  EXPECT_THAT(Live(), UnorderedElementsAre("1000.parquet:", "3000.parquet:"));
  EXPECT_FALSE(*small_.memory_.Exists(second.to[0].file_path));
  const size_t snapshots = small_.table().snapshots.size();
  EXPECT_EQ(Replace({second})->snapshot_id, 0) << "nothing is left of it";
  EXPECT_EQ(small_.table().snapshots.size(), snapshots);
  ExpectWhole();
}

TEST_P(ReplaceFilesTest, WhatWasReadBeforeTheBranchWasSetBackLost) {
  MakeTwoFiles();
  const Snapshot before = Head();
  small_.Commit({}, {{a_.file_path, {1, 2}}});
  FileReplacement group;
  group.from = {{a_.file_path, 5, {0, 1, 2}}};
  group.to = {small_.Write(3000, 2, 0)};
  group.sequence_number = Head().sequence_number;
  group.snapshot_id = Head().snapshot_id;
  const auto live = [&] {
    TableCommit back;
    back.updates = {SetSnapshotRef{"main", {before.snapshot_id, "branch"}}};
    return small_.catalog_->Commit(kName, back).outcome == CommitOutcome::kDone;
  }();
  ASSERT_TRUE(live);
  const auto rows = Live();
  const auto outcome = Replace({group});
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_THAT(outcome->committed, ElementsAre(false));
  EXPECT_EQ(Live(), rows) << "rows 1 and 2 are live again";
}

TEST_P(ReplaceFilesTest, WhereNoHistoryIsShownNothingIsRewritten) {
  MakeTwoFiles();
  class Newest : public Between {
   public:
    using Between::Between;
    Result<LoadedTable> LoadTable(const TableName& name) override {
      ASSIGN_OR_RETURN(LoadedTable table, Between::LoadTable(name));
      table.metadata.snapshots.EraseIf(
          [&](const Snapshot& one) { return one.snapshot_id != table.metadata.current_snapshot_id; });
      table.metadata.snapshots.Change(0).parent_snapshot_id.reset();
      return table;
    }
  } newest(&small_);
  const auto rows = Live();
  EXPECT_THAT(Replace({Group()}, &newest).status().message(), HasSubstr("shows no history of table 'db.t'"));
  EXPECT_EQ(newest.commits, 0);
  EXPECT_EQ(Live(), rows);
}

TEST_P(ReplaceFilesTest, RowsThatAreAllGoneLeaveNoFile) {
  MakeTwoFiles();
  small_.Commit({}, {{a_.file_path, {1, 2, 3, 4}}});
  FileReplacement group;
  group.from = {{a_.file_path, 5, {0, 1, 2, 3, 4}}};
  group.sequence_number = Head().sequence_number;
  group.snapshot_id = Head().snapshot_id;
  ASSERT_TRUE(Replace({group}).ok());
  EXPECT_THAT(Live(), UnorderedElementsAre("5.parquet:", "50.parquet:"));
  // Format 2: what is deleted in the partition may be of the other file there, as far as it is told.
  EXPECT_EQ(LiveDeletes(), 0u);
  ExpectWhole();
}

TEST_P(ReplaceFilesTest, DeletesOfAPartitionGoWithTheLastFileThatTheyMayBeOf) {
  MakeTwoFiles();
  small_.Commit({}, {{a_.file_path, {1}}, {b_.file_path, {1}}});  // format 2: one file of both
  FileReplacement first;
  first.from = {{a_.file_path, 5, {0, 1}}};
  first.to = {small_.Write(2000, 3, 0)};
  first.sequence_number = Head().sequence_number;
  first.snapshot_id = Head().snapshot_id;
  ASSERT_TRUE(Replace({first}).ok());
  EXPECT_THAT(Live(), UnorderedElementsAre("2000.parquet:", "5.parquet: 1", "50.parquet:"));
  EXPECT_EQ(LiveDeletes(), 1u);
  FileReplacement second;
  second.from = {{b_.file_path, 5, {1}}};
  second.to = {small_.Write(2100, 4, 0)};
  second.sequence_number = Head().sequence_number;
  second.snapshot_id = Head().snapshot_id;
  ASSERT_TRUE(Replace({second}).ok());
  EXPECT_THAT(Live(), UnorderedElementsAre("2000.parquet:", "2100.parquet:", "50.parquet:"));
  EXPECT_EQ(LiveDeletes(), GetParam() == 2 ? 1u : 0u) << "it is as new as the file that was read before it";
  ExpectWhole();
}

TEST_P(ReplaceFilesTest, AnAnswerThatWasLostIsFoundInTheTable) {
  MakeTwoFiles();
  Between between(&small_);
  between.loses = true;
  const auto outcome = Replace({Group()}, &between);
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_EQ(between.commits, 1);
  EXPECT_EQ(outcome->snapshot_id, Head().snapshot_id);
  EXPECT_THAT(Live(), UnorderedElementsAre("1000.parquet:", "50.parquet:"));
  ExpectWhole();
}

TEST_P(ReplaceFilesTest, WhoIsAlwaysLateLeavesTheTableAsItWas) {
  MakeTwoFiles();
  Between between(&small_);
  int64_t first = 4000;
  between.before = [&] { small_.Append(first += 10, 5, 1); };
  const FileReplacement group = Group();
  const auto outcome = Replace({group}, &between);
  EXPECT_EQ(outcome.status().retry(), Retry::kBackoff);
  EXPECT_THAT(outcome.status().message(), HasSubstr("was refused after 8 tries"));
  EXPECT_FALSE(*small_.memory_.Exists(group.to[0].file_path));
  size_t lists = 0;
  for (const std::string& path : small_.memory_.Paths()) lists += path.find("/snap-") != std::string::npos;
  EXPECT_EQ(lists, small_.table().snapshots.size());
  ExpectWhole();
}

}  // namespace
}  // namespace caudal::iceberg
