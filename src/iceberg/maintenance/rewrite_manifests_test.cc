// Fewer manifests say the same of every file, whoever commits meanwhile.
#include "iceberg/maintenance/rewrite_manifests.h"

#include <gmock/gmock.h>

#include <map>

#include "iceberg/maintenance/table_check.h"
#include "iceberg/testing/between.h"
#include "iceberg/testing/small_table.h"

namespace caudal::iceberg {
namespace {

// What the head says of each live file, a vector by its data file too.
std::map<std::string, ManifestEntry> LiveEntries(const TableFiles& files, const TableMetadata& table) {
  std::map<std::string, ManifestEntry> live;
  if (!table.current_snapshot_id) return live;
  for (ManifestEntry& entry : EntriesOf(files, *table.FindSnapshot(*table.current_snapshot_id))) {
    if (entry.status == EntryStatus::kDeleted) continue;
    entry.status = EntryStatus::kExisting;
    const std::string key = entry.file.file_path + " " + entry.file.referenced_data_file.value_or("");
    EXPECT_TRUE(live.emplace(key, entry).second) << key;
  }
  return live;
}

size_t ManifestsOfHead(const TableFiles& files, const TableMetadata& table) {
  const Snapshot& head = *table.FindSnapshot(*table.current_snapshot_id);
  return ReadManifestList(files.Read(head.manifest_list).value(), "").value().size();
}

class RewriteManifestsTest : public testing::TestWithParam<int> {
 protected:
  RewriteManifestsTest() : small_(GetParam()) {}
  RewriteManifestsReport Rewrite(const RewriteManifestsOptions& options = {}) {
    const auto report = RewriteManifests(small_.catalog_.get(), small_.files_, kName, options);
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    return report.ok() ? *report : RewriteManifestsReport();
  }

  SmallTable small_;
};
INSTANTIATE_TEST_SUITE_P(Formats, RewriteManifestsTest, testing::Values(2, 3));

TEST_P(RewriteManifestsTest, EveryFileStaysWhatItWas) {
  EXPECT_EQ(Rewrite().snapshot_id, 0) << "it has no snapshot";
  const DataFile a = small_.Write(1000, 10, 3);
  small_.Commit({a});
  for (int64_t i = 0; i < 6; ++i) small_.Append(10 * i, 5, i % 3);
  small_.Commit({}, {{a.file_path, {1, 4}}});
  const TableMetadata before = small_.table();
  const auto live = LiveEntries(small_.files_, before);
  const RewriteManifestsReport report = Rewrite();
  EXPECT_EQ(report.replaced, 7);
  EXPECT_EQ(report.written, 1);
  EXPECT_EQ(report.kept, 1) << "of deletes";
  const TableMetadata after = small_.table();
  EXPECT_EQ(LiveEntries(small_.files_, after), live);
  EXPECT_EQ(ManifestsOfHead(small_.files_, after), 2u);
  const Snapshot& head = *after.FindSnapshot(*after.current_snapshot_id);
  EXPECT_EQ(head.snapshot_id, report.snapshot_id);
  EXPECT_EQ(head.summary.at("operation"), "replace");
  EXPECT_EQ(head.summary.at("total-records"), before.snapshots.back().summary.at("total-records"));
  const auto check = CheckTable(small_.files_, after, {.all = true});
  ASSERT_TRUE(check.ok());
  for (const Violation& one : check->violations) ADD_FAILURE() << one.place << ": " << one.what;
  EXPECT_EQ(Rewrite().snapshot_id, 0) << "nothing is left to do";
  // Writers go on upon it.
  small_.Commit({small_.Write(2000, 5, 1)}, {{a.file_path, {2}}});
  EXPECT_EQ(LiveEntries(small_.files_, small_.table()).size(), GetParam() == 3 ? 9u : 10u);
}

TEST_P(RewriteManifestsTest, PartsAreOfTheWantedSizeAndOfFewPartitions) {
  for (int64_t i = 0; i < 8; ++i) small_.Append(10 * i, 5, i % 4);
  const int64_t bytes =
      ReadManifestList(small_.files_.Read(small_.table().snapshots[0].manifest_list).value(), "")
          .value()[0]
          .manifest_length;
  EXPECT_EQ(Rewrite({.target_bytes = bytes + 50}).snapshot_id, 0) << "each is as large as it should be";
  EXPECT_EQ(Rewrite({.target_bytes = 2 * bytes + 200}).written, 4);
  const TableMetadata table = small_.table();
  for (const ManifestFile& line :
       ReadManifestList(small_.files_.Read(table.snapshots.back().manifest_list).value(), "").value())
    EXPECT_EQ(line.partitions[0].lower_bound, line.partitions[0].upper_bound);
}

TEST_P(RewriteManifestsTest, WhatALostRaceWroteGoes) {
  for (int64_t i = 0; i < 3; ++i) small_.Append(10 * i, 5);
  // Somebody else commits at each try.
  Between busy(&small_);
  int others = 2;
  busy.before = [&] {
    if (others > 0) small_.Append(1000 * others--, 5);
  };
  const auto report = RewriteManifests(&busy, small_.files_, kName, {});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->replaced, 5);
  EXPECT_EQ(LiveEntries(small_.files_, small_.table()).size(), 5u);
  others = 100;
  small_.Append(5000, 5);
  EXPECT_EQ(RewriteManifests(&busy, small_.files_, kName, {}).status().retry(), Retry::kBackoff);
  // One list and one manifest of the try that was taken, and those of the writers.
  size_t lists = 0;
  for (const std::string& path : small_.memory_.Paths()) lists += path.find("/snap-") != std::string::npos;
  EXPECT_EQ(lists, small_.table().snapshots.size());
}

}  // namespace
}  // namespace caudal::iceberg
