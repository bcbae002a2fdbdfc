// Which files are worth writing anew.
#include "iceberg/maintenance/compaction_plan.h"

#include <gmock/gmock.h>

#include <set>

#include "iceberg/testing/bad_catalog.h"

namespace caudal::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A partition of the table, a size, and how many rows of 100 a vector takes away.
struct Planned {
  int64_t bucket = 0;
  int64_t bytes = 0;
  int64_t deleted = 0;
};

class CompactionPlanTest : public testing::Test {
 protected:
  CompactionPlanTest() {
    const NewTable made = Definition(3);
    table_.schemas = {made.schema};
    table_.partition_specs = {made.spec};
    table_.properties = {{"write.target-file-size-bytes", "1000"}};
  }

  void Add(const Planned& file) {
    const std::string path = "/" + std::to_string(scan_.files.size());
    ScanFile made{{File(path, 100, file.bucket), 0, static_cast<int64_t>(scan_.files.size()) + 1}, {}};
    made.data.file.file_size_in_bytes = file.bytes;
    if (file.deleted > 0) {
      DataFile vector{.content = FileContent::kPositionDeletes, .file_path = path + ".puffin"};
      vector.record_count = file.deleted;
      vector.referenced_data_file = path;
      made.deletes = {scan_.deletes.size()};
      scan_.deletes.push_back({vector, 0, 1});
    }
    scan_.files.push_back(std::move(made));
  }
  std::vector<std::vector<size_t>> Groups(const CompactionOptions& options = {}) {
    const auto plan = PlanCompaction(table_, scan_, options);
    EXPECT_TRUE(plan.ok()) << plan.status().ToString();
    std::vector<std::vector<size_t>> groups;
    for (const CompactionGroup& group : plan->groups) groups.push_back(group.files);
    return groups;
  }

  TableMetadata table_;
  ScanPlan scan_;
};

using Files = std::vector<size_t>;

TEST_F(CompactionPlanTest, SmallFilesOfAPartitionAreOneGroup) {
  for (const int64_t bucket : {0, 1, 0, 0, 1, 0}) Add({bucket, 100});
  EXPECT_THAT(Groups(), ElementsAre()) << "four are not worth it";
  Add({0, 100});
  EXPECT_THAT(Groups(), ElementsAre(Files{0, 2, 3, 5, 6}));
  EXPECT_THAT(Groups({.min_input_files = 2}), ElementsAre(Files{0, 2, 3, 5, 6}, Files{1, 4}));
}

TEST_F(CompactionPlanTest, AGroupIsAsLargeAsAFileIsWanted) {
  for (int i = 0; i < 9; ++i) Add({0, 300});
  EXPECT_THAT(Groups(), ElementsAre(Files{0, 1, 2}, Files{3, 4, 5})) << "the last three may still get more";
  EXPECT_THAT(Groups({.min_input_files = 3}), ElementsAre(Files{0, 1, 2}, Files{3, 4, 5}, Files{6, 7, 8}));
}

TEST_F(CompactionPlanTest, WhoLooksAgainAndAgainWritesARowAFewTimes) {
  Add({0, 600});
  for (int i = 0; i < 6; ++i) Add({0, 10});
  EXPECT_THAT(Groups(), ElementsAre(Files{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(Groups({.by_size = true}), ElementsAre(Files{1, 2, 3, 4, 5, 6}));
  // A partition that grows, looked at after every five files.
  table_.properties = {{"write.target-file-size-bytes", "1000000"}};
  scan_.files.clear();
  int64_t written = 0, rewritten = 0;
  for (int look = 0; look < 400; ++look) {
    for (int i = 0; i < 5; ++i, written += 100) Add({0, 100});
    const CompactionPlan plan = PlanCompaction(table_, scan_, {.by_size = true}).value();
    std::vector<ScanFile> left;
    std::set<size_t> gone;
    for (const CompactionGroup& group : plan.groups) gone.insert(group.files.begin(), group.files.end());
    for (size_t i = 0; i < scan_.files.size(); ++i) {
      if (!gone.contains(i)) left.push_back(scan_.files[i]);
    }
    scan_.files = std::move(left);
    for (const CompactionGroup& group : plan.groups) {
      Add({0, group.bytes});
      rewritten += group.bytes;
    }
    EXPECT_LT(scan_.files.size(), 30u) << look;
  }
  EXPECT_LT(rewritten, 10 * written);
}

TEST_F(CompactionPlanTest, FilesOfTheRightSizeStay) {
  for (int i = 0; i < 9; ++i) Add({0, 800});
  EXPECT_THAT(Groups(), ElementsAre());
  EXPECT_EQ(Groups({.rewrite_all = true}).size(), 9u);
  Add({0, 1801});
  EXPECT_THAT(Groups(), ElementsAre(Files{9})) << "it is split";
}

TEST_F(CompactionPlanTest, AFileWithManyDeletedRowsIsWorthIt) {
  Add({0, 900, 29});
  EXPECT_THAT(Groups(), ElementsAre());
  Add({0, 900, 30});
  EXPECT_THAT(Groups(), ElementsAre(Files{1}));
  EXPECT_THAT(Groups({.delete_file_threshold = 1}), ElementsAre(Files{0}, Files{1}));
}

TEST_F(CompactionPlanTest, WhatCannotBeReadIsSaid) {
  for (int i = 0; i < 7; ++i) Add({0, 100});
  scan_.files[3].data.file.file_format = "ORC";
  scan_.deletes.push_back(
      {{.content = FileContent::kEqualityDeletes, .file_path = "/e", .equality_ids = {1}}, 0, 9});
  scan_.files[4].deletes = {0};
  const CompactionPlan plan = PlanCompaction(table_, scan_, {}).value();
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].files, (Files{0, 1, 2, 5, 6}));
  EXPECT_THAT(plan.left_out, ElementsAre(std::pair("of format ORC, which is not read", 1),
                                         std::pair("with equality deletes, which are not read yet", 1)));
}

TEST_F(CompactionPlanTest, SizesThatContradictEachOtherAreRefused) {
  EXPECT_THAT(PlanCompaction(table_, scan_, {.min_file_size_bytes = 2000}).status().ToString(),
              HasSubstr("files of 1000 bytes are wanted, and 2000 is too small"));
}

}  // namespace
}  // namespace caudal::iceberg
