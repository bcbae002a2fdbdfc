// Which deletes apply to which file: the rules of the specification's "Scan Planning", one by one.
#include "iceberg/scan/scan_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "iceberg/scan/delete_index.h"

namespace caudal::iceberg {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<size_t>;

// Spec 0 has no fields, spec 1 one that is void, spec 2 a real one.
TableMetadata Table() {
  TableMetadata table;
  table.partition_specs = {
      {.spec_id = 0},
      {.spec_id = 1, .fields = {{.source_ids = {1}, .field_id = 1000, .name = "a", .transform = "void"}}},
      {.spec_id = 2,
       .fields = {{.source_ids = {1}, .field_id = 1001, .name = "b", .transform = "identity"}}}};
  return table;
}

LiveFile File(FileContent content, int64_t sequence, int32_t spec, std::vector<Value> partition,
              std::optional<std::string> of = {}) {
  LiveFile file{.spec_id = spec, .sequence_number = sequence};
  file.file.content = content;
  file.file.file_path = "/x";
  file.file.partition = std::move(partition);
  file.file.referenced_data_file = std::move(of);
  return file;
}

LiveFile Data(const std::string& path, int64_t sequence, int32_t spec = 0,
              std::vector<Value> partition = {}) {
  LiveFile file = File(FileContent::kData, sequence, spec, std::move(partition));
  file.file.file_path = path;
  return file;
}

LiveFile Vector(const std::string& of, int64_t sequence) {
  LiveFile file = File(FileContent::kPositionDeletes, sequence, 0, {}, of);
  file.file.content_offset = 4;
  return file;
}

Numbers Found(const std::vector<LiveFile>& deletes, const LiveFile& data) {
  const TableMetadata table = Table();
  const auto index = DeleteIndex::Make(&deletes, table);
  EXPECT_TRUE(index.ok()) << index.status().ToString();
  return index.ok() ? index->Find(data) : Numbers();
}

constexpr FileContent kPositions = FileContent::kPositionDeletes;
constexpr FileContent kEquality = FileContent::kEqualityDeletes;

TEST(ScanPlan, EqualityDeletesApplyToOlderDataAlone) {
  const std::vector<LiveFile> deletes = {File(kEquality, 5, 0, {})};
  EXPECT_EQ(Found(deletes, Data("/a", 4)), Numbers{0});
  EXPECT_EQ(Found(deletes, Data("/a", 5)), Numbers());
}

TEST(ScanPlan, PositionDeletesApplyToTheirOwnCommitToo) {
  const std::vector<LiveFile> deletes = {File(kPositions, 5, 0, {}), File(kPositions, 5, 0, {}, "/b")};
  EXPECT_EQ(Found(deletes, Data("/a", 5)), Numbers{0});
  EXPECT_EQ(Found(deletes, Data("/b", 5)), (Numbers{0, 1}));
  EXPECT_EQ(Found(deletes, Data("/b", 6)), Numbers());
}

TEST(ScanPlan, PartitionsMustBeTheSame) {
  const std::vector<LiveFile> deletes = {
      File(kEquality, 9, 2, {Value(int64_t{1})}), File(kPositions, 9, 2, {Value(int64_t{2})}),
      File(kEquality, 9, 2, {Value()}), File(kEquality, 9, 2, {Value(std::nan(""))})};
  EXPECT_EQ(Found(deletes, Data("/a", 1, 2, {Value(int64_t{1})})), Numbers{0});
  EXPECT_EQ(Found(deletes, Data("/a", 1, 2, {Value(int64_t{2})})), Numbers{1});
  EXPECT_EQ(Found(deletes, Data("/a", 1, 2, {Value()})), Numbers{2});
  EXPECT_EQ(Found(deletes, Data("/a", 1, 2, {Value(-std::nan(""))})), Numbers{3});
  EXPECT_EQ(Found(deletes, Data("/a", 1, 0)), Numbers()) << "another spec";
}

TEST(ScanPlan, EqualityDeletesWithoutAPartitionApplyEverywhere) {
  const std::vector<LiveFile> deletes = {File(kEquality, 9, 0, {}), File(kEquality, 9, 1, {Value()}),
                                         File(kPositions, 9, 0, {})};
  EXPECT_EQ(Found(deletes, Data("/a", 1, 2, {Value(int64_t{1})})), (Numbers{0, 1}));
  EXPECT_EQ(Found(deletes, Data("/a", 1)), (Numbers{0, 1, 2}));
}

TEST(ScanPlan, AVectorStandsForAllPositions) {
  const std::vector<LiveFile> deletes = {File(kPositions, 3, 0, {}), File(kPositions, 3, 0, {}, "/a"),
                                         Vector("/a", 5), File(kEquality, 5, 0, {})};
  EXPECT_EQ(Found(deletes, Data("/a", 1)), (Numbers{2, 3}));
  EXPECT_EQ(Found(deletes, Data("/b", 1)), (Numbers{0, 3}));
}

TEST(ScanPlan, TwoVectorsOfOneFileAreRefused) {
  const TableMetadata table = Table();
  const std::vector<LiveFile> deletes = {Vector("/a", 3), Vector("/b", 3), Vector("/a", 5)};
  EXPECT_EQ(DeleteIndex::Make(&deletes, table).status().message(),
            "the data file '/a' has two deletion vectors");
}

}  // namespace
}  // namespace caudal::iceberg
