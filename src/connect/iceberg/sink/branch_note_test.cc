#include "connect/iceberg/sink/branch_note.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fs/memory_file_system.h"

namespace caudal {
namespace {

using testing::HasSubstr;

// Branch 'audit' with so many snapshots, the first of the table among them.
iceberg::TableMetadata TableOf(int64_t snapshots) {
  iceberg::TableMetadata table;
  for (int64_t number = 1; number <= snapshots; ++number) {
    iceberg::Snapshot snapshot;
    snapshot.snapshot_id = number;
    snapshot.sequence_number = number;
    if (number > 1) snapshot.parent_snapshot_id = number - 1;
    table.snapshots.push_back(snapshot);
  }
  table.last_sequence_number = snapshots;
  table.refs["audit"].snapshot_id = snapshots;
  return table;
}

TEST(BranchNoteTest, MetadataThatIsOldIsAskedForAgainAndABranchThatLacksTheEpochIsRefused) {
  ManualEnv env(1, 1);
  MemoryFileSystem files(&env);
  ASSERT_TRUE(files.MakeDirectories("/state").ok());
  ASSERT_TRUE(BranchNote(&files, "/state").Note("audit", {1, 3}, 3).ok());
  BranchNote note(&files, "/state");
  EXPECT_TRUE(note.Check(TableOf(3), "audit", {1, 3}, true).ok());
  const Status old = note.Check(TableOf(2), "audit", {1, 2}, true);
  EXPECT_EQ(old.domain(), Domain::kExternal);
  EXPECT_EQ(old.retry(), Retry::kBackoff);
  const Status another = note.Check(TableOf(3), "audit", {1, 2}, true);
  EXPECT_EQ(another.domain(), Domain::kUser);
  EXPECT_THAT(another.ToString(), HasSubstr("branch 'audit' is another one now"));
  EXPECT_EQ(note.Check(TableOf(2), "audit", {1, 2}, false).domain(), Domain::kUser) << "a file is what it is";
}

}  // namespace
}  // namespace caudal
