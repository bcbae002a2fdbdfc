// A list of manifests stays short by the commits alone, and says the same of every file.
#include "iceberg/snapshot/manifest_merge.h"

#include <gmock/gmock.h>

#include <map>

#include "iceberg/maintenance/table_check.h"
#include "iceberg/testing/between.h"
#include "iceberg/testing/small_table.h"

namespace caudal::iceberg {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

ManifestFile Manifest(int32_t files, int64_t bytes = 5'000, int32_t spec_id = 0) {
  ManifestFile manifest;
  manifest.manifest_length = bytes;
  manifest.partition_spec_id = spec_id;
  manifest.sequence_number = 1;
  manifest.existing_files_count = files;
  return manifest;
}

TableMetadata Table(std::map<std::string, std::string> properties) {
  TableMetadata table;
  table.schemas = {Definition(3).schema};
  table.partition_specs = {Definition(3).spec};
  table.properties = std::move(properties);
  return table;
}

TEST(MergePlan, NothingIsJoinedBeforeThereAreEnough) {
  EXPECT_THAT(PlanMerge(Table({}), std::vector(99, Manifest(1))), IsEmpty());
  EXPECT_THAT(PlanMerge(Table({}), std::vector(100, Manifest(1))), SizeIs(50)) << "half of them at a time";
  const std::vector<ManifestFile> four(4, Manifest(1));
  EXPECT_THAT(PlanMerge(Table({{"commit.manifest.min-count-to-merge", "4"}}), four), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(PlanMerge(Table({{"commit.manifest.min-count-to-merge", "4"},
                               {"commit.manifest-merge.enabled", "false"}}),
                        four),
              IsEmpty());
}

TEST(MergePlan, ThoseOfOneSizeAreJoinedAndNoLargeOnes) {
  const TableMetadata table = Table({{"commit.manifest.min-count-to-merge", "4"}});
  ManifestFile own = Manifest(1);
  own.sequence_number.reset();
  EXPECT_THAT(PlanMerge(table, {own, Manifest(3), Manifest(50), Manifest(2), Manifest(40'000, 900'000)}),
              ElementsAre(1, 3));
  EXPECT_THAT(PlanMerge(table, {own, Manifest(1), Manifest(40), Manifest(400)}), IsEmpty());
  EXPECT_THAT(PlanMerge(table, {own, Manifest(1), Manifest(2), Manifest(3, 5'000, 7)}), IsEmpty())
      << "three of one spec, and one of another";
  EXPECT_THAT(PlanMerge(table, std::vector(6, Manifest(3, 5'000, 7))), IsEmpty()) << "nobody knows the spec";
  EXPECT_THAT(PlanMerge(table, std::vector(5, Manifest(900, 400'000))), ElementsAre(3, 4))
      << "a commit reads no more than a megabyte";
}

std::map<std::string, ManifestEntry> LiveEntries(const TableFiles& files, const Snapshot& snapshot) {
  std::map<std::string, ManifestEntry> live;
  for (ManifestEntry& entry : EntriesOf(files, snapshot)) {
    if (entry.status == EntryStatus::kDeleted) continue;
    entry.status = EntryStatus::kExisting;
    const std::string key = entry.file.file_path + " " + entry.file.referenced_data_file.value_or("");
    EXPECT_TRUE(live.emplace(key, entry).second) << key;
  }
  return live;
}

class ManifestMergeTest : public testing::TestWithParam<int> {
 protected:
  ManifestMergeTest() : small_(GetParam()) {
    (void)small_.catalog_->Commit(kName,
                                  {{}, {SetProperties{{{"commit.manifest.min-count-to-merge", "6"}}}}});
  }
  size_t Manifests() {
    const TableMetadata table = small_.table();
    return ReadManifestList(small_.files_.Read(table.snapshots.back().manifest_list).value(), "")
        .value()
        .size();
  }
  SmallTable small_;
};
INSTANTIATE_TEST_SUITE_P(Formats, ManifestMergeTest, testing::Values(2, 3));

TEST_P(ManifestMergeTest, TheListStaysShortAndEveryFileWhatItWas) {
  std::map<std::string, ManifestEntry> before;
  size_t merged = 0;
  for (int64_t i = 0; i < 40; ++i) {
    const DataFile file = small_.Write(100 * i, 10, i % 3);
    small_.Commit({file});
    // In format 2 each of these has a manifest of its own, in 3 they share one.
    if (i % 5 == 4) small_.Commit({}, {{file.file_path, {1, 4}}});
    EXPECT_LE(Manifests(), 14u);
    const TableMetadata table = small_.table();
    const auto live = LiveEntries(small_.files_, table.snapshots.back());
    for (const auto& [key, entry] : before) {
      // A vector of format 3 is one manifest's with others, but never another's.
      ASSERT_TRUE(live.contains(key)) << key;
      EXPECT_EQ(live.at(key), entry) << key;
    }
    merged += table.snapshots.back().summary.contains("manifests-replaced") ? 1 : 0;
    before = live;
  }
  EXPECT_EQ(before.size(), 48u);
  EXPECT_GT(merged, 4u);
  const auto check = CheckTable(small_.files_, small_.table(), {.all = true});
  ASSERT_TRUE(check.ok());
  for (const Violation& one : check->violations) ADD_FAILURE() << one.place << ": " << one.what;
}

// What a damaged manifest lacks would be out of the table for good, and the commit needs none of them.
TEST_P(ManifestMergeTest, WhatIsDamagedIsNotJoinedAndEndsNoCommit) {
  for (int64_t i = 0; i < 5; ++i) small_.Append(100 * i, 10);
  const std::string list = small_.files_.Read(small_.table().snapshots.back().manifest_list).value();
  const std::string path = ReadManifestList(list, "").value()[2].manifest_path;
  const std::string whole = small_.files_.Read(path).value();
  int64_t next = 1'000;
  for (const std::string& damaged : {whole.substr(0, whole.size() / 2), whole + "!", std::string()}) {
    ASSERT_TRUE(small_.files_.Remove(path).ok());
    if (!damaged.empty()) {
      ASSERT_TRUE(small_.files_.Write(path, damaged).ok());
    }
    const size_t before = Manifests();
    small_.Append(next += 100, 10);
    EXPECT_EQ(Manifests(), before + 1) << "nothing is joined";
    const std::vector<FileInfo> files = small_.memory_.List("/w/db/t/metadata").value();
    for (const FileInfo& file : files)
      EXPECT_EQ(file.path.find("-merged-"), std::string::npos) << "nor left behind";
  }
  ASSERT_TRUE(small_.files_.Write(path, whole).ok());
  small_.Append(9'000, 10);
  EXPECT_LT(Manifests(), 5u);
  EXPECT_EQ(LiveEntries(small_.files_, small_.table().snapshots.back()).size(), 9u);
}

// As Nessie shows a table: it keeps every commit's state, and tells none of the snapshots before the last.
TEST_P(ManifestMergeTest, WhereHistoryIsHiddenNothingIsJoined) {
  class Hiding : public Between {
   public:
    using Between::Between;
    Result<LoadedTable> LoadTable(const TableName& name) override {
      ASSIGN_OR_RETURN(LoadedTable table, Between::LoadTable(name));
      const auto head = table.metadata.current_snapshot_id;
      table.metadata.snapshots.EraseIf([&](const Snapshot& one) { return one.snapshot_id != head; });
      table.metadata.snapshots.Change(0).parent_snapshot_id.reset();
      return table;
    }
  };
  for (int64_t i = 0; i < 5; ++i) small_.Append(100 * i, 10);
  Hiding hiding(&small_);
  for (int64_t i = 5; i < 9; ++i) {
    const auto append =
        PrepareAppend(small_.files_, small_.table(), 0, {small_.Write(100 * i, 10, 0)}).value();
    const auto outcome = CommitAppend(&hiding, small_.files_, kName, append, {"q", 1, i, ""}, {});
    ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  }
  EXPECT_EQ(Manifests(), 9u);
}

// A race that was lost with what was joined for it leaves no file behind, and the next try joins nothing.
TEST_P(ManifestMergeTest, WhatWasJoinedForNothingGoes) {
  Between between(&small_);
  for (int64_t i = 0; i < 5; ++i) small_.Append(100 * i, 10);
  int64_t others = 0;
  between.before = [&] {
    if (others++ == 0) small_.Append(9'000, 10, 0, "other");
  };
  const auto append = PrepareAppend(small_.files_, small_.table(), 0, {small_.Write(8'000, 10, 0)}).value();
  const auto outcome = CommitAppend(&between, small_.files_, kName, append, {"q", 1, 1, ""}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_EQ(outcome->attempts, 2);
  size_t joined = 0;
  const std::vector<FileInfo> files = small_.memory_.List("/w/db/t/metadata").value();
  for (const FileInfo& file : files) joined += file.path.find("-merged-") != std::string::npos ? 1 : 0;
  EXPECT_EQ(joined, 1u) << "the other writer's";
}

}  // namespace
}  // namespace caudal::iceberg
