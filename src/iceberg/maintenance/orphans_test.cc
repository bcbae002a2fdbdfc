// Which files are orphans, and which are left alone whoever does not name them.
#include "iceberg/maintenance/orphans.h"

#include <gmock/gmock.h>

#include "iceberg/maintenance/expire.h"
#include "iceberg/testing/small_table.h"

namespace caudal::iceberg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kFourDays = int64_t{4} * 24 * 3600 * 1'000'000;

class OrphanTest : public testing::Test {
 protected:
  OrphanTest() {
    small_.Append(0, 5);
    const DataFile a = small_.Write(10, 5, 0);
    small_.Commit({a});
    small_.Commit({}, {{a.file_path, {1}}});
    small_.Commit({}, {{a.file_path, {2}}});
  }
  void Put(const std::string& path) { ASSERT_TRUE(small_.files_.Write(path, "x").ok()); }
  Result<OrphanReport> Find(const OrphanOptions& options = {}) {
    return FindOrphans(small_.catalog_.get(), small_.files_, kName, options);
  }
  std::vector<std::string> Orphans(const OrphanOptions& options = {}) {
    std::vector<std::string> paths;
    const auto report = Find(options);
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    if (!report.ok()) return paths;
    for (const OrphanFile& one : report->orphans) paths.push_back(one.path);
    return paths;
  }

  SmallTable small_{3};
};

TEST_F(OrphanTest, WhatTheTableNamesIsNone) {
  small_.env_.Advance(kFourDays);
  EXPECT_THAT(Orphans(), IsEmpty());
  EXPECT_GT(Find()->listed, 10);
  ASSERT_TRUE(
      ExpireSnapshots(small_.catalog_.get(), small_.files_, kName, {.policy = {.max_snapshot_age_ms = 0}})
          .ok());
  EXPECT_THAT(Orphans(), IsEmpty());
}

TEST_F(OrphanTest, OldFilesThatNothingNamesAre) {
  Put("/w/db/t/data/left.parquet");
  Put("/w/db/t/data/id_bucket=1/left.parquet");
  Put("/w/db/t/metadata/left-m0.avro");
  EXPECT_THAT(Orphans(), IsEmpty()) << "they are young";
  EXPECT_EQ(Find()->young, 3);
  small_.env_.Advance(kFourDays);
  Put("/w/db/t/data/new.parquet");
  EXPECT_THAT(Orphans(), ElementsAre("/w/db/t/data/id_bucket=1/left.parquet", "/w/db/t/data/left.parquet",
                                     "/w/db/t/metadata/left-m0.avro"));
  EXPECT_EQ(Orphans({.min_age_ms = 0}).size(), 4u);
}

TEST_F(OrphanTest, WhatMayStillBeCommittedIsLeft) {
  Put("/w/db/t/data/prepared.parquet");
  Put("/w/db/t/data/left.parquet");
  small_.env_.Advance(kFourDays);
  OrphanOptions options;
  options.in_flight = [](const TableMetadata&, const std::string& name) {
    return name == "prepared.parquet";
  };
  EXPECT_THAT(Orphans(options), ElementsAre("/w/db/t/data/left.parquet"));
  EXPECT_EQ(Find(options)->in_flight, 1);
}

TEST_F(OrphanTest, HiddenFilesAndOtherTablesAreLeft) {
  Put("/w/db/t/data/.caudal-x.inprogress");
  Put("/w/db/t/_spark/a.parquet");
  Put("/w/db/t/inner/metadata/v1.metadata.json");
  Put("/w/db/t/inner/data/a.parquet");
  Put("/w/db/t/metadata/v99.metadata.json");
  Put("/w/db/t/data/_part=1/a.parquet");
  small_.env_.Advance(kFourDays);
  EXPECT_THAT(Orphans(), ElementsAre("/w/db/t/data/_part=1/a.parquet"));
}

TEST_F(OrphanTest, StatisticsAndFilesOfTheLogAreNamed) {
  const LoadedTable before = small_.Load();
  Put("/w/db/t/metadata/statistics.puffin");
  TableMetadata table = before.metadata;
  table.unknown.emplace_back("statistics",
                             R"([{"snapshot-id": )" + std::to_string(*table.current_snapshot_id) +
                                 R"(, "statistics-path": "file:/w/db/t/metadata/statistics.puffin",
                                                    "file-size-in-bytes": 1}])");
  small_.memory_.Overwrite(before.metadata_location, TableMetadataText(table).value());
  small_.env_.Advance(kFourDays);
  EXPECT_THAT(Orphans(), IsEmpty());
}

TEST_F(OrphanTest, TheSameFileUnderAnotherPathStopsIt) {
  small_.env_.Advance(kFourDays);
  TableMetadata table = small_.table();
  table.properties["write.data.path"] = "/mount/t/data";
  small_.memory_.Overwrite(small_.Load().metadata_location, TableMetadataText(table).value());
  Put("/mount/t/data/0.parquet");
  small_.env_.Advance(kFourDays);
  EXPECT_THAT(Orphans(), ElementsAre("/mount/t/data/0.parquet")) << "both are there: it is a copy";
  ASSERT_TRUE(small_.memory_.Remove("/w/db/t/data/0.parquet").ok());
  EXPECT_THAT(Find().status().message(),
              HasSubstr("the table names '/w/db/t/data/0.parquet', and '/mount/t/data/0.parquet' was found"));
}

TEST_F(OrphanTest, TheSameFileUnderAnotherPathStopsItWhereNamesRepeat) {
  Put("/w/db/t/data/p=1/000000_0");
  Put("/w/db/t/data/p=2/000000_0");
  small_.Commit({File("/w/db/t/data/p=1/000000_0", 5), File("/mount/db/t/data/p=2/000000_0", 5)});
  small_.env_.Advance(kFourDays);
  EXPECT_THAT(Find().status().message(), HasSubstr("the table names '/mount/db/t/data/p=2/000000_0', and "
                                                   "'/w/db/t/data/p=2/000000_0' was found"));
}

TEST_F(OrphanTest, AFileWhoseTimeIsNotKnownIsYoung) {
  class Timeless : public MemoryFileSystem {
   public:
    Timeless(MemoryFileSystem* files, Env* env) : MemoryFileSystem(env), files_(files) {}
    Result<std::string> ReadAll(const std::string& path) override { return files_->ReadAll(path); }
    Result<std::vector<FileInfo>> List(const std::string& path) override {
      auto found = files_->List(path);
      for (FileInfo& file : *found) file.modified_micros = 0;
      return found;
    }

   private:
    MemoryFileSystem* files_;
  };
  Put("/w/db/t/data/of-another-engine.parquet");
  small_.env_.Advance(kFourDays);
  Timeless timeless(&small_.memory_, &small_.env_);
  const TableFiles files(&timeless, &small_.env_);
  const auto report = FindOrphans(small_.catalog_.get(), files, kName, {});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_THAT(report->orphans, IsEmpty());
  EXPECT_EQ(report->young, 1);
}

TEST_F(OrphanTest, ATableMayForbidIt) {
  TableCommit commit;
  commit.updates = {SetProperties{{{"gc.enabled", "false"}}}};
  ASSERT_EQ(small_.catalog_->Commit(kName, commit).outcome, CommitOutcome::kDone);
  EXPECT_THAT(Find().status().message(), HasSubstr("'gc.enabled' = 'false'"));
}

}  // namespace
}  // namespace caudal::iceberg
