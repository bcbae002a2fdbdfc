#include "server/query_runner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "connect/blackhole/blackhole_connector.h"
#include "run/schedule/pool_executor.h"
#include "sql/session.h"

namespace caudal {
namespace {

// What the test does to the outside world.
struct Outside {
  std::atomic<bool> breaks{false};   // its reader fails
  std::atomic<bool> answers{true};   // false: whoever asks for the source waits
  std::atomic<bool> refuses{false};  // instead of an answer
  std::atomic<int> asked{0};
};

class OneSplit : public SplitEnumerator {
 public:
  Result<std::vector<Split>> Discover() override {
    if (std::exchange(told_, true)) return std::vector<Split>();
    return std::vector<Split>{{"0", 0}};
  }
  bool complete() const override { return told_; }
  std::string Snapshot() const override { return "{}"; }
  Status Restore(std::string_view) override { return Status(); }

 private:
  bool told_ = false;
};

class OutsideReader : public SplitReader {
 public:
  explicit OutsideReader(Outside* outside) : outside_(outside) {}
  Result<Poll> Next() override {
    if (outside_->breaks.exchange(false)) return Status::External("it is away", Retry::kBackoff);
    return Poll(NothingYet());
  }
  Position position() const override { return "0"; }

 private:
  Outside* outside_;
};

class OutsideSource : public Source {
 public:
  explicit OutsideSource(Outside* outside) : outside_(outside) {}
  bool bounded() const override { return false; }
  std::unique_ptr<SplitEnumerator> MakeEnumerator() override { return std::make_unique<OneSplit>(); }
  Result<std::unique_ptr<SplitReader>> Open(const Split&, const Position&) override {
    return std::unique_ptr<SplitReader>(std::make_unique<OutsideReader>(outside_));
  }

 private:
  Outside* outside_;
};

class OutsideConnector : public Connector {
 public:
  explicit OutsideConnector(Outside* outside) : outside_(outside) {}
  std::string_view name() const override { return "outside"; }
  std::span<const OptionSpec> options() const override { return {}; }
  bool can_read() const override { return true; }
  Result<std::unique_ptr<Source>> MakeSource(const Table&, const ReadRequest&,
                                             const ConnectorContext&) const override {
    ++outside_->asked;
    outside_->answers.wait(false);
    if (outside_->refuses) return Status::External("it is still away", Retry::kBackoff);
    return std::unique_ptr<Source>(std::make_unique<OutsideSource>(outside_));
  }

 private:
  Outside* outside_;
};

class QueryRunnerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-runner-XXXXXX";
    folder_ = mkdtemp(name);
    log_ = std::make_unique<RunLog>(folder_);
    Catalog catalog(connectors_);
    sql::Session session(&catalog);
    auto outcomes = session.Execute(
        "CREATE TABLE t (a INT) WITH ('connector' = 'outside');"
        "CREATE TABLE o (a INT) WITH ('connector' = 'blackhole');"
        "INSERT INTO o SELECT a FROM t");
    ASSERT_TRUE(outcomes.ok()) << outcomes.status().ToString();
    plan_ = std::get<sql::InsertQuery>(outcomes->back()).plan;
    MakeRunner();
    runner_->Begin(/*held=*/false);
    TickUntil([&] { return runner_->running(); });
  }
  void MakeRunner() {
    JobOptions options;
    options.env = Env::Real();
    options.files = FileSystem::Local();
    options.executor = &executor_;
    options.connectors = connectors_;
    options.state_root = folder_;
    runner_ = std::make_unique<QueryRunner>(plan_, options, &clock_, log_.get());
  }
  void TearDown() override {
    Answer();
    runner_.reset();
    std::filesystem::remove_all(folder_);
  }
  void Answer() {
    outside_.answers = true;
    outside_.answers.notify_all();
  }
  // Breaks the query and has it started again, with nobody answering: on return its start waits.
  void StartAgainInVain() {
    outside_.answers = false;
    outside_.breaks = true;
    TickUntil([&] { return outside_.asked == 2; });
  }
  void TickUntil(const std::function<bool()>& reached) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!reached()) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit);
      runner_->Tick();
      clock_.Advance(1'000'000);
      std::this_thread::yield();
    }
  }

  Outside outside_;
  const OutsideConnector connector_{&outside_};
  const BlackholeConnector blackhole_;
  const Connector* list_[2] = {&connector_, &blackhole_};
  std::span<const Connector* const> connectors_{list_};
  PoolExecutor executor_{Env::Real(), 1};
  ManualEnv clock_;
  Plan plan_;
  std::string folder_;
  std::unique_ptr<RunLog> log_;
  std::unique_ptr<QueryRunner> runner_;
};

// The loop that ticks also serves signals, the other queries' records and /livez.
TEST_F(QueryRunnerTest, AStartThatIsNotAnsweredHoldsNobodyUp) {
  StartAgainInVain();
  runner_->Tick();
  EXPECT_FALSE(runner_->running());
  EXPECT_FALSE(runner_->ended());
  EXPECT_EQ(runner_->trouble().message(), "it is away");
  Answer();
  TickUntil([&] { return runner_->running(); });
}

TEST_F(QueryRunnerTest, AStopReachesAQueryThatIsBeingStarted) {
  StartAgainInVain();
  runner_->Stop(Job::StopKind::kSavepoint);
  runner_->Tick();
  EXPECT_FALSE(runner_->ended());
  Answer();
  TickUntil([&] { return runner_->ended(); });
  EXPECT_TRUE(runner_->status().ok()) << runner_->status().ToString();
  EXPECT_EQ(runner_->progress().checkpoints.committed, 1);
}

TEST_F(QueryRunnerTest, AHeldStartRunsOnceItIsLetGo) {
  MakeRunner();
  runner_->Begin(/*held=*/true);
  EXPECT_FALSE(runner_->answer().has_value());
  TickUntil([&] { return runner_->answer().has_value(); });
  EXPECT_TRUE(runner_->answer()->ok());
  EXPECT_FALSE(runner_->refuses());
  EXPECT_TRUE(runner_->starting());
  EXPECT_FALSE(runner_->running());
  runner_->LetGo();
  EXPECT_TRUE(runner_->running());
  EXPECT_FALSE(runner_->starting());
}

// What is away refuses a run that begins; one that has a checkpoint knows that it was there once.
TEST_F(QueryRunnerTest, OnlyAQueryThatNeverRanRefusesARunForWhatIsAway) {
  outside_.refuses = true;
  MakeRunner();
  runner_->Begin(/*held=*/true);
  TickUntil([&] { return runner_->answer().has_value(); });
  EXPECT_FALSE(runner_->has_checkpoint());
  EXPECT_TRUE(runner_->refuses());

  outside_.refuses = false;
  MakeRunner();
  runner_->Begin(/*held=*/false);
  TickUntil([&] { return runner_->running(); });
  runner_->Stop(Job::StopKind::kSavepoint);
  TickUntil([&] { return runner_->ended(); });
  outside_.refuses = true;
  MakeRunner();
  runner_->Begin(/*held=*/true);
  TickUntil([&] { return runner_->answer().has_value(); });
  EXPECT_TRUE(runner_->has_checkpoint());
  EXPECT_FALSE(runner_->refuses());
  runner_->LetGo();
  EXPECT_FALSE(runner_->ended());
  EXPECT_EQ(runner_->progress().state, JobState::kWaiting);
  EXPECT_EQ(runner_->trouble().message(), "it is still away");
}

// It has ended as it was told to, with its last epoch: not failed. But nothing has drained it.
TEST_F(QueryRunnerTest, AQueryThatWaitsIsStoppedAndNotDrained) {
  for (const auto kind : {Job::StopKind::kSavepoint, Job::StopKind::kDrain}) {
    outside_.refuses = false;
    MakeRunner();
    runner_->Begin(/*held=*/false);
    TickUntil([&] { return runner_->running(); });
    outside_.refuses = true;
    outside_.breaks = true;
    const Status& trouble = runner_->trouble();
    TickUntil([&] { return !trouble.ok() && trouble.message() == "it is still away"; });
    runner_->Stop(kind);
    TickUntil([&] { return runner_->ended(); });
    const bool drain = kind == Job::StopKind::kDrain;
    EXPECT_EQ(runner_->status().ok(), !drain);
    if (drain) {
      EXPECT_EQ(runner_->status().message(), "it is still away");
    }
    EXPECT_EQ(runner_->progress().state, drain ? JobState::kFailed : JobState::kFinished);
    EXPECT_EQ(runner_->progress().status.ok(), !drain);
  }
}

TEST_F(QueryRunnerTest, AStopEndsAHeldStartAtOnce) {
  outside_.answers = false;
  MakeRunner();
  runner_->Begin(/*held=*/true);
  runner_->Stop(Job::StopKind::kSavepoint);
  EXPECT_TRUE(runner_->ended());
  EXPECT_TRUE(runner_->status().ok());
}

// As one that is stopped while it waits for the next attempt.
TEST_F(QueryRunnerTest, AStartThatFailsAfterAStopIsTheEnd) {
  StartAgainInVain();
  runner_->Stop(Job::StopKind::kSavepoint);
  outside_.refuses = true;
  Answer();
  TickUntil([&] { return runner_->ended(); });
  EXPECT_TRUE(runner_->status().ok()) << runner_->status().ToString();
  EXPECT_EQ(outside_.asked, 2);
}

}  // namespace
}  // namespace caudal
