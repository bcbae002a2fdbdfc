// A checkpoint written by every format so far is restored: test/fixtures/checkpoint-<format>/ holds the files
// that the program of that format wrote, never touched again.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "run/testing/job_fixture.h"

namespace caudal {
namespace {

constexpr int64_t kRowsBefore = 40;  // in the fixture
const std::string kFolder = "state/p/out";

std::filesystem::path Fixture(int format) {
  const std::filesystem::path root =
      std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  return root / "test" / "fixtures" / ("checkpoint-" + std::to_string(format));
}

class CheckpointFixture : public JobFixture {
 protected:
  // The same rows in every run: 20 keys, each twice.
  void FeedRows(int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) Feed(i % 20, 1000 + i);
  }
  void Load(int format) {
    ASSERT_TRUE(files_.MakeDirectories(kFolder + "/sinks/out").ok());
    for (const auto& entry : std::filesystem::directory_iterator(Fixture(format))) {
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      ASSERT_TRUE(*files_.CreateIfAbsent(kFolder + "/" + entry.path().filename().string(), bytes));
    }
  }
};

// Run once for a new format: --gtest_also_run_disabled_tests --gtest_filter=*WriteTheFixture; writes below
// the temporary folder.
TEST_F(CheckpointFixture, DISABLED_WriteTheFixture) {
  auto job = Start(ClicksPlan(2));
  FeedRows(0, kRowsBefore / 2);
  Checkpoint(*job);
  FeedRows(kRowsBefore / 2, kRowsBefore);
  Checkpoint(*job);
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "checkpoint-fixture";
  std::filesystem::create_directories(folder);
  for (const std::string& path : files_.Paths()) {
    if (!path.starts_with(kFolder + "/") || path.find('/', kFolder.size() + 1) != std::string::npos) continue;
    std::ofstream(folder / path.substr(kFolder.size() + 1), std::ios::binary) << *files_.ReadAll(path);
  }
}

class EveryFormat : public CheckpointFixture, public ::testing::WithParamInterface<int> {};

TEST_P(EveryFormat, IsRestored) {
  Load(GetParam());
  // The target's epochs went with the program that wrote the fixture.
  collected_.Get("out")->Stage({});
  collected_.Get("out")->Refuse(CommitOutcome::kCommitted, 1);
  FeedRows(0, kRowsBefore);
  FeedRows(kRowsBefore, kRowsBefore + 2);
  auto job = Start(ClicksPlan(1));
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->generation(), 2);
  Checkpoint(*job);
  EXPECT_FALSE(job->finished()) << job->status().ToString();
  // Both new rows repeat keys that only the restored state knows.
  EXPECT_EQ(collected_.Get("out")->committed_count(), 0u);
  const JobProgress progress = job->progress();
  EXPECT_EQ(progress.checkpoints.nodes[0].rows_out, kRowsBefore + 2);
  EXPECT_EQ(progress.checkpoints.nodes[1].fates[0].rows, kRowsBefore / 2 + 2);
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryFormat, ::testing::Values(1, 2));

}  // namespace
}  // namespace caudal
