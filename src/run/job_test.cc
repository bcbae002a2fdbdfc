#include "run/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fault_point.h"
#include "expr/scalar_function.h"
#include "run/testing/job_fixture.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;

// clicks → the rows of each k in an hour, as they are every `delay` ms → out.
Plan EarlyCounts(int64_t delay) {
  Plan plan = ClicksPlan(1);
  AggregateNode count = CountByKey();
  count.windowed = true;
  count.window = {3'600'000, 3'600'000, 0, 1, false};
  count.emit = AggregateNode::Emit::kOnWatermark;
  count.early_fire_delay = delay;
  count.update_before = false;
  plan.nodes[1].payload = count;
  plan.nodes[1].schema.fields = {{"k", Type(TypeId::kBigInt, false)}, {"n", Type(TypeId::kBigInt, false)}};
  Table& out = std::get<SinkNode>(plan.nodes[2].payload).table;
  out.columns = {DeclaredColumn("k", Type(TypeId::kBigInt, false)),
                 DeclaredColumn("n", Type(TypeId::kBigInt, false))};
  return plan;
}

class JobTest : public JobFixture {
 protected:
  ~JobTest() override { Faults::Disarm(); }

  std::vector<int64_t> Keys() {
    std::vector<int64_t> keys;
    for (const Change& change : collected_.Get("out")->Committed()) {
      keys.push_back(std::get<int64_t>(change.values[0].data));
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  // LOCALTIMESTAMP of two rows that come one after the other.
  std::vector<int64_t> ClocksOfTwoChunks(bool batch) {
    Plan plan = ClicksPlan(1);
    plan.batch = batch;
    plan.nodes[1].payload = CalcNode{{},
                                     {Expr::Column(0, "k", Type(TypeId::kBigInt, false)),
                                      BindCall(*FindScalarFunction("LOCALTIMESTAMP"), {}).value()}};
    auto job = Start(std::move(plan));
    Feed(1, 1000);
    Run(*job);
    Feed(2, 2000);
    Run(*job);
    feeds_.EndAll();
    Run(*job, 1000);
    EXPECT_TRUE(job->finished());
    std::vector<int64_t> clocks;
    for (const Change& change : collected_.Get("out")->Committed())
      clocks.push_back(std::get<int64_t>(change.values[1].data));
    return clocks;
  }
};

TEST_F(JobTest, TheClockOfABatchQueryStandsStill) {
  const std::vector<int64_t> clocks = ClocksOfTwoChunks(/*batch=*/true);
  ASSERT_EQ(clocks.size(), 2u);
  EXPECT_EQ(clocks[0], clocks[1]);
}

TEST_F(JobTest, TheClockOfAStreamingQueryGoesOn) {
  const std::vector<int64_t> clocks = ClocksOfTwoChunks(/*batch=*/false);
  ASSERT_EQ(clocks.size(), 2u);
  EXPECT_LT(clocks[0], clocks[1]);
}

TEST_F(JobTest, AnEpochBeginsWhenEarlyResultsCome) {
  env_.Advance(700'000);  // between two seconds
  Plan plan = EarlyCounts(/*delay=*/1000);
  plan.settings["execution.checkpointing.interval"] = "1 s";
  auto job = Start(std::move(plan));
  Run(*job, 20);
  for (int64_t i = 0; i < 200; ++i) {
    Feed(i, 1000);
    Run(*job, 20);
    // Whatever came before the last full second is to be seen.
    const int64_t behind = env_.NowMillis() % 1000;
    if (behind < 30) continue;
    EXPECT_GE(static_cast<int64_t>(Keys().size()) + 2, i - behind / 20) << "at " << env_.NowMillis() % 10'000;
  }
  EXPECT_GE(Keys().size(), 150u);
  EXPECT_LE(job->progress().checkpoints.committed, 5);
}

TEST_F(JobTest, ACrashLosesNothingAndDoublesNothing) {
  auto job = Start(ClicksPlan(1));
  Feed(1, 1000);
  Feed(2, 2000);
  Checkpoint(*job);
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1, 2}));
  Feed(3, 3000);
  Run(*job);
  job.reset();  // as kill -9
  job = Start(ClicksPlan(2));
  Feed(1, 4000);
  Checkpoint(*job);
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1, 2, 3}));
  const JobProgress progress = job->progress();
  EXPECT_EQ(progress.generation, 2);
  EXPECT_EQ(progress.checkpoints.nodes[1].fates[0].name, "");
  EXPECT_EQ(progress.checkpoints.nodes[1].fates[0].rows, 1);  // the duplicate
  EXPECT_EQ(progress.checkpoints.nodes[0].rows_out, 4);
}

TEST_F(JobTest, ABrokenContractStopsWithItsPlace) {
  auto job = Start(ClicksPlan(1));
  Feed(1, 1000);
  Feed(-1, 2000);
  Run(*job);
  ASSERT_TRUE(job->finished());
  const Status status = job->Wait();
  EXPECT_EQ(status.domain(), Domain::kData);
  EXPECT_EQ(status.message(), "column 'k' is NULL but declared NOT NULL");
  EXPECT_THAT(status.ToString(), HasSubstr("at feed clicks[0]@1\n  in source 'clicks' of query 'p/out'\n"));
  EXPECT_THAT(status.ToString(), HasSubstr("hint: set 'caudal.errors' = 'dead-letter'"));
  EXPECT_TRUE(Keys().empty());
}

TEST_F(JobTest, BadRowsGoToTheDeadLetters) {
  Plan plan = ClicksPlan(1);
  Table dead;
  dead.name = "dead";
  dead.columns = {DeclaredColumn("error_class", Type::String()),
                  DeclaredColumn("offset", Type(TypeId::kBigInt)), DeclaredColumn("source", Type::String()),
                  DeclaredColumn("file", Type::String())};
  dead.options = {{"connector", "collect"}};
  plan.dead_letter = DeadLetter{dead};
  auto job = Start(plan);
  Feed(1, 5000);
  Feed(-1, 2000);
  FeedRow malformed;
  malformed.malformed = RejectedRecord{0, "{", "malformed", "unexpected end", "/in/a.json"};
  feeds_.Get("clicks")->Push(0, malformed);
  Feed(2, 4000);  // late
  Checkpoint(*job);
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1}));
  std::vector<std::string> classes;
  for (const Change& change : collected_.Get("dead")->Committed()) {
    classes.push_back(std::get<std::string>(change.values[0].data));
    // Where it comes from is known of all, also of what an operator rejects.
    EXPECT_EQ(change.values[2], Value(std::string("clicks")));
    EXPECT_EQ(change.values[3], classes.back() == "malformed" ? Value(std::string("/in/a.json")) : Value());
  }
  EXPECT_THAT(classes, ::testing::UnorderedElementsAre("contract", "malformed", "late"));
}

TEST_F(JobTest, SkippedRowsAreCountedAndNothingElse) {
  Plan plan = ClicksPlan(1);
  auto* scan = std::get_if<ScanNode>(&plan.nodes[0].payload);
  scan->table.options["caudal.errors"] = "skip";
  auto job = Start(plan);
  Feed(1, 1000);
  Feed(-1, 2000);
  Checkpoint(*job);
  EXPECT_FALSE(job->finished()) << job->status().ToString();
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1}));
  EXPECT_EQ(job->progress().checkpoints.nodes[0].fates[0].name, "contract");
}

TEST_F(JobTest, ASavepointEndsItAndItGoesOn) {
  auto job = Start(ClicksPlan(2));
  Feed(1, 1000);
  Run(*job);
  job->Stop(Job::StopKind::kSavepoint);
  Run(*job);
  ASSERT_TRUE(job->finished());
  EXPECT_TRUE(job->Wait().ok()) << job->Wait().ToString();
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1}));
  job.reset();
  job = Start(ClicksPlan(1));
  Feed(2, 2000);
  Checkpoint(*job);
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1, 2}));
}

TEST_F(JobTest, TheEndOfTheInputIsTheLastEpoch) {
  auto job = Start(ClicksPlan(2));
  Feed(1, 1000);
  feeds_.EndAll();
  Run(*job);
  ASSERT_TRUE(job->finished());
  EXPECT_TRUE(job->Wait().ok()) << job->Wait().ToString();
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1}));
  executor_.RunUntilIdle();
  EXPECT_EQ(job->progress().operators[1].watermark.event, Watermark::kEnd);
}

TEST_F(JobTest, AFailedPrepareAbandonsTheEpochNotTheQuery) {
  auto job = Start(ClicksPlan(1));
  Feed(1, 1000);
  Faults::Arm(FaultPoint::sink_prepare_before, FaultAction::kError);
  Checkpoint(*job);
  EXPECT_FALSE(job->finished());
  EXPECT_EQ(job->progress().checkpoints.abandoned, 1);
  const int64_t held = job->progress().memory_used;  // what is sealed among it
  Run(*job, 1000);
  EXPECT_LT(job->progress().memory_used, held);
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1}));
  EXPECT_TRUE(job->progress().checkpoints.last_failure.ok());
}

// Without its share of rows for the epoch a source waits for the next one, which the pause alone may hold up.
TEST_F(JobTest, ARequestedEpochBeginsWithTheEndOfThePause) {
  Plan plan = ClicksPlan(1);
  plan.settings["execution.checkpointing.min-pause"] = "5 s";
  plan.settings["caudal.max-rows-per-epoch"] = "1";
  auto job = Start(plan);
  Feed(1, 1000);
  Run(*job, 1000);
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1}));
  Feed(2, 2000);
  Run(*job, 3000);
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1}));
  Run(*job, 3000);
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1, 2}));
}

// What a full disk or a silent database hinders must not keep the process from ending.
TEST_F(JobTest, AStopDoesNotWaitForEver) {
  for (const FaultPoint point : {FaultPoint::sink_prepare_before, FaultPoint::sink_commit_before}) {
    auto job = Start(ClicksPlan(1));
    Feed(1, 1000);
    Faults::Arm(point, FaultAction::kError, 1, 1'000'000);
    Checkpoint(*job);
    Run(*job, 100'000);
    EXPECT_FALSE(job->finished()) << "only a stop ends it";
    job->Stop(Job::StopKind::kSavepoint);
    Run(*job, 20'000);
    EXPECT_FALSE(job->finished());
    Run(*job, 80'000);
    ASSERT_TRUE(job->finished()) << Faults::Name(point);
    EXPECT_EQ(job->Wait().domain(), Domain::kExternal);
    Faults::Disarm();
    job.reset();
    job = Start(ClicksPlan(1));
    Checkpoint(*job);
    EXPECT_EQ(Keys(), (std::vector<int64_t>{1})) << "nothing is lost by it";
  }
}

// Whenever its tasks told theirs last: `caudal sql` looks once, at the end.
TEST_F(JobTest, TheCountsOfAFinishedJobAreWhole) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SeededExecutor executor(&env_, seed);
    FeedRegistry feeds;
    CollectRegistry collected;
    FeedConnector feed(&feeds);
    CollectConnector collect(&collected);
    const Connector* list[] = {&feed, &collect};
    JobOptions options = Options();
    options.executor = &executor;
    options.connectors = list;
    options.state_root = "state" + std::to_string(seed);
    auto job = Job::Start(ClicksPlan(2), options);
    ASSERT_TRUE(job.ok()) << job.status().ToString();
    for (const int64_t millis : {1000, 2000}) {
      FeedRow row;
      row.values = {Value(int64_t{1}), Value(millis * 1000)};
      feeds.Get("clicks")->Push(0, row);
    }
    feeds.EndAll();
    (*job)->Poll();
    while (!(*job)->finished()) {
      if (!executor.RunOne()) env_.Advance(1000);
    }
    const JobProgress progress = (*job)->progress();
    EXPECT_EQ(progress.operators[0].rows_out, 2) << "seed " << seed;
    EXPECT_EQ(progress.operators[2].rows_in[0], 1) << "seed " << seed;
  }
}

// A segment that could not be made durable may not be tried again with the same bytes.
TEST_F(JobTest, OnlyWhatWaitingMendsIsWaitedFor) {
  auto job = Start(ClicksPlan(1));
  Feed(1, 1000);
  Faults::Decide(
      [](FaultPoint point, void*) {
        return point == FaultPoint::sink_prepare_before ? Status::External("the disk", Retry::kRestart)
                                                        : Status();
      },
      nullptr);
  Checkpoint(*job);
  ASSERT_TRUE(job->finished());
  EXPECT_EQ(job->Wait().retry(), Retry::kRestart);
}

TEST_F(JobTest, ACommitWithoutAnswerIsRepeated) {
  auto job = Start(ClicksPlan(1));
  collected_.Get("out")->Refuse(CommitOutcome::kUnknown, 3);
  Feed(1, 1000);
  Checkpoint(*job);
  Run(*job, 2000);
  EXPECT_FALSE(job->finished());
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1}));
}

TEST_F(JobTest, ARefusedCommitStopsAndKeepsTheEpoch) {
  auto job = Start(ClicksPlan(1));
  collected_.Get("out")->Refuse(CommitOutcome::kRefused, 1);
  Feed(1, 1000);
  Checkpoint(*job);
  ASSERT_TRUE(job->finished());
  EXPECT_THAT(job->Wait().ToString(), HasSubstr("hint: the epoch is kept in the checkpoint"));
  EXPECT_TRUE(Keys().empty());
  job.reset();
  job = Start(ClicksPlan(1));  // repeats it
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1}));
}

TEST_F(JobTest, AChangedPlanIsRefused) {
  auto job = Start(ClicksPlan(1));
  Feed(1, 1000);
  Checkpoint(*job);
  job.reset();
  const auto changed = Job::Start(ClicksPlan(1, 90'000), Options());
  ASSERT_FALSE(changed.ok());
  EXPECT_THAT(changed.status().message(), HasSubstr("'out/dedup/1' has changed since the checkpoint"));
  const auto renamed = Job::Start(ClicksPlan(1, 60'000, "out/dedup/2"), Options());
  ASSERT_FALSE(renamed.ok());
  EXPECT_THAT(renamed.status().ToString(), HasSubstr("hint: start with --allow-dropped 'out/dedup/1'"));
  JobOptions allowing = Options();
  allowing.allow_dropped = {"out/dedup/1"};
  const auto allowed = Job::Start(ClicksPlan(1, 60'000, "out/dedup/2"), allowing);
  ASSERT_TRUE(allowed.ok()) << allowed.status().ToString();
  EXPECT_EQ((*allowed)->generation(), 2);  // refusals claimed nothing
  EXPECT_THAT((*allowed)->warnings(),
              ::testing::ElementsAre(
                  "'out/dedup/2' is new and begins empty",
                  "the way to a sink has other operators than before, so the counts of rows begin anew"));
}

TEST_F(JobTest, ASinkMayGoOnlyWhenItsTargetHasTheLastEpoch) {
  Plan without = ClicksPlan(1);
  without.nodes[2].id = "other";
  std::get<SinkNode>(without.nodes[2].payload).table.name = "other";
  JobOptions allowing = Options();
  allowing.allow_dropped = {"*"};
  auto job = Start(ClicksPlan(1));
  collected_.Get("out")->Refuse(CommitOutcome::kRefused, 1);
  Feed(1, 1000);
  Checkpoint(*job);
  job.reset();  // between manifest and commit
  const auto refused = Job::Start(without, allowing);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().ToString(), HasSubstr("epoch 1-1 may not have reached sink 'out'"));
  EXPECT_THAT(refused.status().ToString(), HasSubstr("hint: start the query once more with that sink"));
  job = Start(ClicksPlan(1));
  Feed(2, 2000);
  Run(*job);
  job->Stop(Job::StopKind::kSavepoint);
  Run(*job);
  ASSERT_TRUE(job->finished());
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1, 2}));
  job.reset();
  const auto allowed = Job::Start(without, allowing);
  EXPECT_TRUE(allowed.ok()) << allowed.status().ToString();
}

TEST_F(JobTest, ASecondInstanceTakesOver) {
  auto first = Start(ClicksPlan(1));
  Feed(1, 1000);
  Checkpoint(*first);
  auto second = Start(ClicksPlan(1));
  Feed(2, 2000);
  first->TriggerCheckpoint();
  Run(*first);
  ASSERT_TRUE(first->finished());
  EXPECT_THAT(first->Wait().message(), HasSubstr("was taken over by a newer start"));
  Checkpoint(*second);
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1, 2}));
}

// A checkpoint that is gone must not make every commit look old.
TEST_F(JobTest, AfterALostCheckpointNothingIsWrittenTwice) {
  auto job = Start(ClicksPlan(1));
  for (int64_t i = 1; i < 6; ++i) {
    Feed(i, i * 1000);
    Checkpoint(*job);
  }
  job.reset();
  for (const std::string& path : files_.Paths()) ASSERT_TRUE(files_.Remove(path).ok());
  const auto again = Job::Start(ClicksPlan(1), Options());
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.status().message(), HasSubstr("'out' has already committed epoch 1-5"));
  EXPECT_EQ(Keys().size(), 5u);
}

TEST_F(JobTest, AnOlderCheckpointThanTheTargetIsRefused) {
  auto job = Start(ClicksPlan(1));
  Feed(1, 1000);
  Checkpoint(*job);
  Feed(2, 2000);
  Checkpoint(*job);
  job.reset();
  files_.Overwrite("state/p/out/manifest-1-2", "damaged");
  const auto older = Job::Start(ClicksPlan(1), Options());
  ASSERT_FALSE(older.ok());
  EXPECT_THAT(older.status().message(),
              HasSubstr("has already committed epoch 1-2, and the newest whole checkpoint is 1-1"));
}

TEST_F(JobTest, OverItsMemoryItStopsWithTheWayOut) {
  Plan plan = ClicksPlan(1);
  plan.settings["caudal.memory-limit"] = "1 kb";
  plan.settings["execution.checkpointing.interval"] = "50 ms";
  auto job = Start(plan);
  Feed(1, 1000);
  Run(*job, 5000);
  ASSERT_TRUE(job->finished());
  EXPECT_THAT(job->Wait().ToString(), HasSubstr("hint: raise 'caudal.memory-limit'"));
}

TEST_F(JobTest, WhenAllAreTooMuchTheOneThatHoldsMostStops) {
  MemoryBudget process("process", 1'000);
  MemoryBudget other("other", 0, &process);
  other.Charge(1 << 20);
  JobOptions options = Options();
  options.budget = &process;
  Plan plan = ClicksPlan(1);
  plan.settings["execution.checkpointing.interval"] = "50 ms";
  auto job = Job::Start(plan, options);
  ASSERT_TRUE(job.ok()) << job.status().ToString();
  Feed(1, 1000);
  Run(**job, 5000);
  EXPECT_FALSE((*job)->finished()) << (*job)->status().ToString();
  other.Charge(-(1 << 20));
  Run(**job, 5000);
  ASSERT_TRUE((*job)->finished());
  EXPECT_THAT((*job)->Wait().message(), HasSubstr("the most of all that together hold 0.1 MB"));
}

TEST_F(JobTest, AnEphemeralJobCommitsOnceAtTheEnd) {
  JobOptions options = Options();
  options.state_root.clear();
  Feed(1, 1000);
  Feed(2, 2000);
  Plan plan = ClicksPlan(2);
  plan.settings["caudal.max-rows-per-epoch"] = "1";
  auto job = Job::Start(plan, options);
  ASSERT_TRUE(job.ok()) << job.status().ToString();
  Run(**job, 60'000);
  EXPECT_TRUE(Keys().empty());
  feeds_.EndAll();
  Run(**job);
  EXPECT_TRUE((*job)->finished());
  EXPECT_EQ(Keys(), (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(files_.Paths().empty());
}

}  // namespace
}  // namespace caudal
