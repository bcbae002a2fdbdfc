// A state that is much larger than what may wait to be written.
#include <gtest/gtest.h>

#include "base/fault_point.h"
#include "run/epoch/state_segments.h"
#include "run/testing/job_fixture.h"

namespace caudal {
namespace {

constexpr size_t kKeyBytes = 100'000;
constexpr int64_t kKeys = 700;  // 70 MB of them

// Sees what the query holds whenever a segment is about to be written.
class WatchedFiles : public MemoryFileSystem {
 public:
  WatchedFiles(Env* env, const MemoryBudget* budget) : MemoryFileSystem(env), budget_(budget) {}

  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    if (path.find("/segment-") != std::string::npos) {
      ++segments;
      most = std::max(most, budget_->used());
    }
    return MemoryFileSystem::Create(path);
  }
  int segments = 0;
  int64_t most = 0;

 private:
  const MemoryBudget* budget_;
};

// The rows of each key, which is a long text.
Plan CountsOfTexts() {
  Plan plan = ClicksPlan(1);
  const Type text = Type::String().WithNullable(false);
  std::get<ScanNode>(plan.nodes[0].payload).table.columns[0] = DeclaredColumn("k", text);
  plan.nodes[0].schema.fields[0].type = text;
  AggregateNode count = CountByKey();
  count.emit = AggregateNode::Emit::kOnEnd;
  plan.nodes[1].payload = count;
  plan.nodes[1].schema.fields = {{"k", text}, {"n", Type(TypeId::kBigInt, false)}};
  std::get<SinkNode>(plan.nodes[2].payload).table.columns = {
      DeclaredColumn("k", text), DeclaredColumn("n", Type(TypeId::kBigInt, false))};
  return plan;
}

class LargeSnapshotTest : public JobFixture {
 protected:
  ~LargeSnapshotTest() override { Faults::Disarm(); }

  std::unique_ptr<Job> StartJob() {
    JobOptions options = Options();
    options.files = &watched_;
    options.budget = &budget_;
    auto job = Job::Start(CountsOfTexts(), options);
    EXPECT_TRUE(job.ok()) << job.status().ToString();
    return job.ok() ? std::move(*job) : nullptr;
  }
  void FeedAll(Job& job) {
    for (int64_t key = 0; key < kKeys; ++key) {
      FeedRow row;
      std::string text = std::to_string(key);
      text.resize(kKeyBytes, 'x');
      row.values = {Value(std::move(text)), Value(int64_t{1'000'000})};
      feeds_.Get("clicks")->Push(0, row);
      if (key % 50 == 0) Run(job);
    }
    Run(job);
  }
  int64_t RowsOut(Job& job) {
    feeds_.EndAll();
    Run(job, 10'000);
    EXPECT_TRUE(job.finished());
    EXPECT_TRUE(job.status().ok()) << job.status().ToString();
    return static_cast<int64_t>(collected_.Get("out")->Committed().size());
  }

  MemoryBudget budget_{"process", 0};
  WatchedFiles watched_{&env_, &budget_};
};

TEST_F(LargeSnapshotTest, IsWrittenWhileItIsMade) {
  auto job = StartJob();
  FeedAll(*job);
  const int64_t state = budget_.used();
  ASSERT_GT(state, static_cast<int64_t>(kKeys * kKeyBytes));
  job->TriggerCheckpoint();
  Run(*job, 2000);
  ASSERT_EQ(job->progress().checkpoints.committed, 1);
  EXPECT_GE(watched_.segments, 5);
  EXPECT_GT(watched_.most, state + (4 << 20));
  EXPECT_LT(watched_.most, state + SnapshotBytes().most_waiting + (4 << 20));
  EXPECT_LE(budget_.used(), state);

  job.reset();  // as kill -9
  job = StartJob();
  EXPECT_EQ(RowsOut(*job), kKeys);
}

// While the disk refuses, the epoch must come to its end, or there would be no other.
TEST_F(LargeSnapshotTest, IsWrittenWithTheNextEpochIfTheDiskRefuses) {
  auto job = StartJob();
  FeedAll(*job);
  Faults::Arm(FaultPoint::snapshot_write, FaultAction::kError, 2, 3);
  job->TriggerCheckpoint();
  Run(*job, 20'000);
  Faults::Disarm();
  const CheckpointProgress progress = job->progress().checkpoints;
  EXPECT_GE(progress.abandoned, 1);
  EXPECT_GE(progress.committed, 1);
  job.reset();
  job = StartJob();
  EXPECT_EQ(RowsOut(*job), kKeys);
}

}  // namespace
}  // namespace caudal
