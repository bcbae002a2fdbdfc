// Which rows each snapshot took away and added, in both formats.
#include "iceberg/scan/snapshot_changes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "iceberg/commit/replace_files.h"
#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/testing/small_table.h"

namespace caudal::iceberg {
namespace {

using ::testing::HasSubstr;

class SnapshotChangesTest : public testing::TestWithParam<int> {
 protected:
  SnapshotChangesTest() : small_(GetParam()) {}

  // "-0.parquet{1,2} +5.parquet{}!": ! stands for all but these.
  std::string Changes(int64_t snapshot_id) {
    const TableMetadata table = small_.table();
    const auto changes = ReadChanges(small_.files_, table, *table.FindSnapshot(snapshot_id));
    if (!changes.ok()) return changes.status().ToString();
    std::string text;
    for (const ChangedRows& rows : changes->rows) {
      const std::string& path = rows.data.file.file_path;
      text += fmt::format("{}{}{}{{{}}}{}", text.empty() ? "" : " ", rows.added ? "+" : "-",
                          path.substr(path.rfind('/') + 1), fmt::join(rows.positions.ToVector(), ","),
                          rows.only ? "" : "!");
    }
    return text;
  }
  static std::string Path(int64_t first) { return "/w/db/t/data/" + std::to_string(first) + ".parquet"; }
  // A snapshot with a manifest more, as other writers make it.
  int64_t AddManifest(ManifestContent content, const ManifestEntry& entry, const std::string& operation) {
    const TableMetadata table = small_.table();
    const Snapshot& head = *table.FindSnapshot(*table.current_snapshot_id);
    auto writer = ManifestWriter::Make(*table.FindSchema(table.current_schema_id),
                                       *table.FindSpec(table.default_spec_id),
                                       {.format_version = table.format_version, .content = content});
    EXPECT_TRUE(writer->Add(entry).ok());
    auto written = std::move(writer->Finish()).value();
    written.manifest.manifest_path = table.location + "/metadata/" + small_.files_.NewUuid() + "-m0.avro";
    EXPECT_TRUE(small_.files_.Write(written.manifest.manifest_path, written.bytes).ok());
    auto manifests = *ReadManifestList(*small_.files_.Read(head.manifest_list), "list");
    // What is taken away stands in no other manifest.
    if (entry.status == EntryStatus::kDeleted) {
      std::erase_if(manifests,
                    [](const ManifestFile& each) { return each.content == ManifestContent::kData; });
    }
    manifests.push_back(written.manifest);
    Snapshot snapshot{.snapshot_id = head.snapshot_id + 1,
                      .parent_snapshot_id = head.snapshot_id,
                      .sequence_number = table.last_sequence_number + 1,
                      .timestamp_ms = head.timestamp_ms + 1,
                      .summary = {{"operation", operation}},
                      .schema_id = table.current_schema_id,
                      .first_row_id = table.next_row_id,
                      .added_rows = 0};
    snapshot.manifest_list = table.location + "/metadata/" + small_.files_.NewUuid() + ".avro";
    const auto list = WriteManifestList(manifests, {.format_version = table.format_version,
                                                    .snapshot_id = snapshot.snapshot_id,
                                                    .parent_snapshot_id = head.snapshot_id,
                                                    .sequence_number = snapshot.sequence_number,
                                                    .first_row_id = table.next_row_id});
    EXPECT_TRUE(small_.files_.Write(snapshot.manifest_list, list->bytes).ok());
    const CommitAnswer answer = small_.catalog_->Commit(
        kName, {{},
                {AddSnapshot{snapshot},
                 SetSnapshotRef{"main", {.snapshot_id = snapshot.snapshot_id, .type = "branch"}}}});
    EXPECT_EQ(answer.outcome, CommitOutcome::kDone) << answer.status.ToString();
    return snapshot.snapshot_id;
  }

  SmallTable small_;
};

TEST_P(SnapshotChangesTest, RowsThatWentAndRowsThatCame) {
  const int64_t first = small_.Commit({small_.Write(0, 5, 0), small_.Write(5, 5, 1)});
  EXPECT_EQ(Changes(first), "+0.parquet{}! +5.parquet{}!");
  const int64_t upsert = small_.Commit({small_.Write(10, 3, 0)}, {{Path(0), {1, 3}}, {Path(5), {4}}});
  EXPECT_EQ(Changes(upsert), "-0.parquet{1,3} -5.parquet{4} +10.parquet{}!");
  const int64_t again = small_.Commit({}, {{Path(0), {1, 2}}, {Path(10), {0}}});
  EXPECT_EQ(Changes(again), "-10.parquet{0} -0.parquet{2}") << "row 1 had gone before";
  // A row that is replaced in the epoch that brings it was never there for others.
  const int64_t replaced = small_.Commit({small_.Write(20, 4, 0)}, {{Path(20), {0}}, {Path(0), {4}}});
  EXPECT_EQ(Changes(replaced), "-0.parquet{4} +20.parquet{0}!");
  EXPECT_EQ(Changes(upsert), "-0.parquet{1,3} -5.parquet{4} +10.parquet{}!") << "whenever it is asked";
}

TEST_P(SnapshotChangesTest, AFileThatGoesTakesItsLiveRows) {
  const DataFile data = small_.Write(0, 5, 0);
  small_.Commit({data});
  small_.Commit({}, {{Path(0), {1}}});
  const TableMetadata table = small_.table();
  const ManifestEntry gone{.status = EntryStatus::kDeleted,
                           .snapshot_id = *table.current_snapshot_id + 1,
                           .sequence_number = 1,
                           .file_sequence_number = 1,
                           .file = data};
  const int64_t snapshot = AddManifest(ManifestContent::kData, gone, "delete");
  EXPECT_EQ(Changes(snapshot), "-0.parquet{1}!");
  const CommitAnswer answer =
      small_.catalog_->Commit(kName, {{}, {RemoveSnapshots{{*table.current_snapshot_id}}}});
  ASSERT_EQ(answer.outcome, CommitOutcome::kDone) << answer.status.ToString();
  EXPECT_THAT(Changes(snapshot),
              HasSubstr(fmt::format("the rows that snapshot {} took away are gone: snapshot "
                                    "{}, which had them, expired before they were read",
                                    snapshot, *table.current_snapshot_id)));
}

TEST_P(SnapshotChangesTest, RowsDeletedByTheirValuesAreRefusedByName) {
  small_.Append(0, 5);
  DataFile deletes;
  deletes.content = FileContent::kEqualityDeletes;
  deletes.file_path = "/w/db/t/data/eq.parquet";
  deletes.partition = {Value(int64_t{0})};
  deletes.equality_ids = {1};
  deletes.record_count = 1;
  const int64_t snapshot = AddManifest(ManifestContent::kDeletes, {.file = deletes}, "overwrite");
  EXPECT_THAT(Changes(snapshot),
              HasSubstr(fmt::format("snapshot {} deletes rows by their values", snapshot)));
  EXPECT_THAT(Changes(snapshot), HasSubstr("TABLE_SCAN_THEN_INCREMENTAL"));
  const int64_t later = small_.Commit({}, {{Path(0), {1}}});
  EXPECT_THAT(Changes(later), HasSubstr("deletes rows by their values before snapshot"));
}

INSTANTIATE_TEST_SUITE_P(Formats, SnapshotChangesTest, testing::Values(2, 3));

}  // namespace
}  // namespace caudal::iceberg
