// An epoch that is committed again after the snapshot with its token has expired.
#include <gtest/gtest.h>

#include "fs/memory_file_system.h"
#include "iceberg/commit/row_delta.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/testing/bad_catalog.h"

namespace caudal::iceberg {
namespace {

// What an index says that was made of the head: all rows of a file.
class RowsOfAFile : public RowDeletes {
 public:
  explicit RowsOfAFile(std::string path) : path_(std::move(path)) {}
  Result<DeletedRows> Find(const TableMetadata&, const Snapshot* head) override {
    DeletedRows rows;
    if (head != nullptr) rows[path_].Add(0);
    return rows;
  }

 private:
  std::string path_;
};

class ExpiredToken : public testing::TestWithParam<bool> {
 protected:
  ExpiredToken() : files_(&memory_, &env_), catalog_(&files_, 0) {
    (void)catalog_.CreateTable(kName, Definition(3)).ok();
  }
  PreparedAppend Prepare(const std::string& path) {
    return PrepareAppend(files_, catalog_.table(), 0, {File(path, 5)}).value();
  }
  // Until an answer arrives. With GetParam rows are taken away too.
  AppendOutcome Commit(const std::string& pipeline, const PreparedAppend& append, const std::string& path) {
    const PipelineToken token{pipeline, 1, 1, ""};
    for (;;) {
      RowsOfAFile rows(path);
      HeadFiles known;
      const auto outcome = GetParam()
                               ? CommitRowDelta(&catalog_, files_, kName, append, &rows, &known, token, {})
                               : CommitAppend(&catalog_, files_, kName, append, token, {});
      if (outcome.ok()) return *outcome;
      EXPECT_EQ(outcome.status().retry(), Retry::kBackoff) << outcome.status().ToString();
    }
  }
  const Snapshot& head() const {
    return *catalog_.table().FindSnapshot(*catalog_.table().current_snapshot_id);
  }
  // All entries of data in one new manifest, as Spark's rewrite_manifests does.
  void RewriteManifests() {
    const TableMetadata table = catalog_.table();
    ManifestWriter writer = ManifestWriter::Make(table.schemas[0], table.partition_specs[0],
                                                 {.format_version = table.format_version})
                                .value();
    for (ManifestEntry& entry : EntriesOf(files_, head())) {
      if (entry.status == EntryStatus::kDeleted || entry.file.content != FileContent::kData) continue;
      entry.status = EntryStatus::kExisting;
      ASSERT_TRUE(writer.Add(entry).ok());
    }
    ManifestWriter::Written written = writer.Finish().value();
    written.manifest.manifest_path = "/rewritten.avro";
    ASSERT_TRUE(files_.Write(written.manifest.manifest_path, written.bytes).ok());
    Snapshot snapshot{.snapshot_id = 4711, .schema_id = 0};
    snapshot.parent_snapshot_id = head().snapshot_id;
    snapshot.sequence_number = table.last_sequence_number + 1;
    snapshot.timestamp_ms = NextTimestamp(table, 1);
    snapshot.summary = {{"operation", "replace"}};
    snapshot.manifest_list = "/rewritten.list";
    snapshot.first_row_id = table.next_row_id;
    const auto list =
        WriteManifestList({written.manifest}, {.format_version = table.format_version,
                                               .snapshot_id = snapshot.snapshot_id,
                                               .parent_snapshot_id = snapshot.parent_snapshot_id,
                                               .sequence_number = snapshot.sequence_number,
                                               .first_row_id = table.next_row_id});
    snapshot.added_rows = list->added_rows;
    ASSERT_TRUE(files_.Write(snapshot.manifest_list, list->bytes).ok());
    TableCommit commit;
    commit.updates = {AddSnapshot{snapshot}, SetSnapshotRef{"main", {snapshot.snapshot_id, "branch"}}};
    while (catalog_.table().current_snapshot_id != snapshot.snapshot_id) (void)catalog_.Commit(kName, commit);
  }

  ManualEnv env_{1, 7};
  MemoryFileSystem memory_{&env_};
  TableFiles files_;
  BadCatalog catalog_;
};

TEST_P(ExpiredToken, ItsFilesAreLiveOnceAndKeepTheirRows) {
  for (const bool rewritten : {false, true}) {
    const std::string path = rewritten ? "/b" : "/a", pipeline = rewritten ? "q" : "p";
    const PreparedAppend append = Prepare(path);
    ASSERT_NE(Commit(pipeline, append, path).snapshot_id, 0);
    (void)Commit("another " + pipeline, Prepare(path + "-theirs"), path + "-theirs");
    if (rewritten) RewriteManifests();
    catalog_.ExpireAllButHead();
    const int64_t before = head().snapshot_id;
    const AppendOutcome again = Commit(pipeline, append, path);
    EXPECT_EQ(again.result, AppendResult::kFound);
    EXPECT_EQ(again.snapshot_id, 0);
    EXPECT_EQ(head().snapshot_id, before) << "rewritten " << rewritten;
  }
}

// Nessie's service answers with the newest snapshot alone, and without its parent.
TEST_P(ExpiredToken, AServiceThatShowsNoHistoryGetsThemOnceToo) {
  const PreparedAppend append = Prepare("/a");
  ASSERT_NE(Commit("p", append, "/a").snapshot_id, 0);
  (void)Commit("another", Prepare("/theirs"), "/theirs");
  RewriteManifests();
  catalog_.ExpireAllButHead(/*parent=*/false);
  const int64_t before = head().snapshot_id;
  EXPECT_EQ(Commit("p", append, "/a").result, AppendResult::kFound);
  EXPECT_EQ(head().snapshot_id, before);
}

TEST_P(ExpiredToken, OtherFilesOfAPipelineThatNobodyRemembersAreAdded) {
  const PreparedAppend append = Prepare("/a");
  (void)Commit("another", Prepare("/x"), "/x");
  (void)Commit("one more", Prepare("/y"), "/y");
  catalog_.ExpireAllButHead();
  EXPECT_EQ(Commit("p", append, "/a").result, AppendResult::kCommitted);
  EXPECT_EQ(TokenOf(head())->pipeline, "p");
}

INSTANTIATE_TEST_SUITE_P(Kinds, ExpiredToken, testing::Bool(),
                         [](const auto& one) { return one.param ? "RowDelta" : "Append"; });

}  // namespace
}  // namespace caudal::iceberg
