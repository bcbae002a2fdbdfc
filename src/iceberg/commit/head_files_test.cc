#include "iceberg/commit/head_files.h"

#include <gtest/gtest.h>

#include "fs/memory_file_system.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/testing/bad_catalog.h"

namespace caudal::iceberg {
namespace {

// A file has moved to another manifest, the next of which cannot be read; then a head comes, a stale one or
// one that was rolled back, which has the former manifest again.
TEST(HeadFilesTest, ALoadThatFailsHalfWayLeavesNothingWrong) {
  ManualEnv env(1, 7);
  MemoryFileSystem memory(&env);
  const TableFiles files(&memory, &env);
  const NewTable table = Definition(3);
  const auto write = [&](const std::string& path) {
    ManifestWriter writer = ManifestWriter::Make(table.schema, table.spec, {.format_version = 3}).value();
    EXPECT_TRUE(writer.Add({.file = File("/a", 5)}).ok());
    ManifestWriter::Written written = writer.Finish().value();
    written.manifest.manifest_path = path;
    EXPECT_TRUE(files.Write(path, written.bytes).ok());
    return written.manifest;
  };
  const ManifestFile former = write("/former.avro"), moved = write("/moved.avro");
  ManifestFile missing = moved;
  missing.manifest_path = "/missing.avro";
  HeadFiles head;
  ASSERT_TRUE(head.Load(files, {former}).ok());
  EXPECT_FALSE(head.Load(files, {moved, missing}).ok());
  ASSERT_TRUE(head.Load(files, {former}).ok());
  ASSERT_NE(head.FindData("/a"), nullptr);
  EXPECT_EQ(head.FindData("/a")->records, 5);
}

}  // namespace
}  // namespace caudal::iceberg
