// What taking rows away writes: beside deletes that a table had in format 2, and when a write fails.
#include "iceberg/commit/delete_changes.h"

#include <gtest/gtest.h>

#include "fs/memory_file_system.h"
#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/deletes/position_deletes.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/testing/bad_catalog.h"

namespace caudal::iceberg {
namespace {

// Takes no file whose name ends so.
class FullDisk : public MemoryFileSystem {
 public:
  using MemoryFileSystem::MemoryFileSystem;
  Result<bool> CreateIfAbsent(const std::string& path, std::string_view bytes) override {
    if (!refused.empty() && path.ends_with(refused)) return Status::External("the disk is full");
    return MemoryFileSystem::CreateIfAbsent(path, bytes);
  }
  std::string refused;
};

class DeleteChangesTest : public testing::Test {
 protected:
  DeleteChangesTest() : files_(&disk_, &env_) {
    const NewTable made = Definition(3);
    table_.format_version = 3;
    table_.location = "/w/t";
    table_.schemas = {made.schema};
    table_.partition_specs = {made.spec};
    ManifestWriter data = Writer(3, ManifestContent::kData);
    EXPECT_TRUE(data.Add({.file = File("/a", 5)}).ok());
    Keep(&data, "/data.avro");
  }
  ManifestWriter Writer(int format_version, ManifestContent content) {
    return ManifestWriter::Make(table_.schemas[0], table_.partition_specs[0],
                                {.format_version = format_version, .content = content})
        .value();
  }
  void Keep(ManifestWriter* writer, const std::string& path) {
    ManifestWriter::Written written = writer->Finish().value();
    written.manifest.manifest_path = path;
    written.manifest.sequence_number = written.manifest.min_sequence_number = 1;
    written.manifest.added_snapshot_id = 1;
    ASSERT_TRUE(files_.Write(path, written.bytes).ok());
    manifests_.push_back(written.manifest);
    ASSERT_TRUE(head_.Load(files_, manifests_).ok());
  }
  Result<DeleteChanges> Delete(int64_t position, const std::string& name) {
    DeletedRows rows;
    rows["/a"].Add(position);
    return MakeDeleteChanges({&files_, &table_, &head_, name}, rows, &written_);
  }

  ManualEnv env_{1, 7};
  FullDisk disk_{&env_};
  TableFiles files_;
  TableMetadata table_;
  HeadFiles head_;
  std::vector<ManifestFile> manifests_;
  std::vector<std::string> written_;
};

// A table that was upgraded: its file of positions may say one twice, so that its count tells nothing.
TEST_F(DeleteChangesTest, ANewPositionIsWrittenWhateverAnOldFileCounts) {
  PositionSet positions;
  positions.Add(1);
  PositionDeleteFile old = WritePositionDeletes({{"/a", &positions}}).value();
  old.file.file_path = "/old-deletes.parquet";
  old.file.partition = {Value(int64_t{0})};
  old.file.record_count = 2;
  ASSERT_TRUE(files_.Write(old.file.file_path, old.bytes).ok());
  ManifestWriter deletes = Writer(2, ManifestContent::kDeletes);
  ASSERT_TRUE(deletes.Add({.file = old.file}).ok());
  Keep(&deletes, "/deletes.avro");
  const auto changes = Delete(2, "x");
  ASSERT_TRUE(changes.ok()) << changes.status().ToString();
  ASSERT_EQ(changes->added.vectors, 1);
  EXPECT_EQ(changes->added.positions, 2);
  EXPECT_EQ(changes->removed.files, 1);
}

TEST_F(DeleteChangesTest, WhatWasWrittenBeforeAFailureIsNamed) {
  disk_.refused = "-d0.avro";
  EXPECT_FALSE(Delete(2, "x").ok());
  ASSERT_EQ(written_.size(), 1u) << "to be removed by who called";
  EXPECT_TRUE(disk_.Exists(written_[0]).value());
  EXPECT_TRUE(written_[0].ends_with("x-deletes.puffin"));
}

}  // namespace
}  // namespace caudal::iceberg
