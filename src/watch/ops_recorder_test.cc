#include "watch/ops_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "db/sqlite.h"
#include "run/testing/clicks_plan.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OpsRecorderTest : public ::testing::Test {
 protected:
  OpsRecorderTest()
      : folder_(std::filesystem::temp_directory_path() / ("caudal-recorder-" + std::to_string(getpid()))),
        env_(int64_t{1'772'368'496'789'000}) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~OpsRecorderTest() override { std::filesystem::remove_all(folder_); }

  // The first column of each row.
  std::vector<std::string> Query(const std::string& sql) {
    std::vector<std::string> cells;
    auto database = Sqlite::Open(OpsStore::PathIn(folder_), Sqlite::Mode::kReadOnly);
    EXPECT_TRUE(database.ok()) << database.status().ToString();
    auto statement = (*database)->Prepare(sql);
    EXPECT_TRUE(statement.ok()) << statement.status().ToString();
    while (*statement->Step()) cells.emplace_back(statement->text(0));
    return cells;
  }

  // After `epoch`, with so many rows read in all.
  JobProgress After(int64_t epoch, int64_t rows) {
    JobProgress job;
    job.query = "p/out";
    job.generation = 1;
    OperatorProgress scan;
    scan.id = "clicks";
    scan.label = "Scan";
    scan.watermark = {1'772'368'400'000, 0};
    job.operators = {scan};
    job.checkpoints.last = {1, epoch};
    job.checkpoints.recent = {{{1, epoch}, env_.NowMillis(), 40, {{120, rows}}}};
    NodeState source, dedup, sink;
    source.id = "clicks";
    source.label = "Scan";
    source.rows_out = rows;
    source.splits = {{"0", 0, R"({"file": "a.ndjson", "offset": 12})", 0, false}};
    dedup.rows_in = {rows};
    dedup.rows_out = rows;
    sink.id = "out";
    sink.label = "Sink";
    sink.rows_in = {rows};
    sink.fates = {{"published", "", rows}};
    job.checkpoints.nodes = {source, dedup, sink};
    job.checkpoints.bytes_written = {{"out", 50 * rows}};
    return job;
  }

  std::filesystem::path folder_;
  ManualEnv env_;
};

// Whose first commit is there before the first look.
TEST_F(OpsRecorderTest, TheFirstRateIsThatSinceTheQueryStarted) {
  OpsRecorder recorder(folder_, {"p", "me", "7"}, &env_);
  env_.Advance(5'000'000);
  JobProgress job = After(1, 100);
  job.started_millis = env_.NowMillis() - 2'000;
  recorder.Observe(ClicksPlan(1), job);
  ASSERT_TRUE(recorder.Flush().ok());
  EXPECT_THAT(Query("SELECT input_rps FROM streaming_progress"), ElementsAre("50.0"));
}

TEST_F(OpsRecorderTest, ACommitIsARowWithItsDifferences) {
  OpsRecorder recorder(folder_, {"p", "me", "7"}, &env_);
  recorder.Observe(ClicksPlan(1), After(1, 100));
  env_.Advance(2'000'000);
  recorder.Observe(ClicksPlan(1), After(2, 150));
  ASSERT_TRUE(recorder.Flush().ok());
  EXPECT_THAT(Query("SELECT batch_id || ' ' || kind || ' ' || rows_read || ' ' || rows_published || ' ' || "
                    "rows_unaccounted || ' ' || freshness_p95_ms FROM streaming_progress ORDER BY batch_id"),
              ElementsAre("1 batch 100 100 0 120", "2 batch 50 50 0 120"));
  EXPECT_THAT(Query("SELECT input_rps FROM streaming_progress WHERE batch_id = 2"), ElementsAre("25.0"));
  EXPECT_THAT(Query("SELECT epoch || ' ' || duration_ms || ' ' || rows FROM epochs ORDER BY epoch"),
              ElementsAre("1 40 100", "2 40 150"));
  EXPECT_THAT(Query("SELECT sink || ' ' || fate || ' ' || rows FROM fates"),
              ElementsAre("out published 150"));
  EXPECT_THAT(Query("SELECT owner || ' ' || state || ' ' || epoch FROM queries"),
              ElementsAre("me running 2"));
}

// What somebody saw is better than what the history tells, whichever comes first; each commit is told once.
TEST_F(OpsRecorderTest, ACommitIsKeptAsItWasSeen) {
  const auto commit = [](int64_t snapshot, int64_t millis, bool exact) {
    SinkCommit one{.sink = "out", .table = "lake.db.t", .branch = "main"};
    one.epoch = {1, snapshot};
    one.snapshot_id = one.sequence_number = snapshot;
    one.published_millis = millis;
    one.exact = exact;
    return one;
  };
  const auto shown = [this] {
    return Query(
        "SELECT snapshot_id || ' ' || exact || ' ' || substr(published_at, 15, 5) FROM commits ORDER BY 1");
  };
  constexpr int64_t kMinute = 60'000;
  {
    OpsRecorder recorder(folder_, {"p", "me", "7"}, &env_);
    JobProgress job = After(1, 100);
    job.checkpoints.commits = {commit(1, kMinute, false), commit(2, 2 * kMinute, true)};
    recorder.Observe(ClicksPlan(1), job);
    job.checkpoints.commits = {commit(2, 7 * kMinute, true), commit(3, 3 * kMinute, true)};
    job.checkpoints.commits_before = 1;
    recorder.Observe(ClicksPlan(1), job);  // the second was told before
    ASSERT_TRUE(recorder.Flush().ok());
  }
  EXPECT_THAT(shown(), ElementsAre("1 0 01:00", "2 1 02:00", "3 1 03:00"));
  OpsRecorder again(folder_, {"p", "me", "7"}, &env_);
  JobProgress job = After(1, 100);
  job.checkpoints.commits = {commit(1, kMinute, false), commit(3, 2 * kMinute, false),
                             commit(4, 4 * kMinute, false)};
  again.Observe(ClicksPlan(1), job);
  ASSERT_TRUE(again.Flush().ok());
  EXPECT_THAT(shown(), ElementsAre("1 0 01:00", "2 1 02:00", "3 1 03:00", "4 0 04:00"));
}

// What the runs before read is not read again.
TEST_F(OpsRecorderTest, AStartThatGoesOnCountsWhatItReadsAlone) {
  const auto restored = [&](JobProgress job) {
    job.generation = 2;
    job.checkpoints.restored = After(5, 100).checkpoints.nodes;
    job.checkpoints.restored_epoch = 5;
    return job;
  };
  OpsRecorder recorder(folder_, {"p", "me", "7"}, &env_);
  JobProgress begun = restored(After(5, 100));
  begun.checkpoints.recent.clear();
  recorder.Observe(ClicksPlan(1), begun);
  env_.Advance(2'000'000);
  recorder.Observe(ClicksPlan(1), restored(After(6, 130)));
  ASSERT_TRUE(recorder.Flush().ok());
  EXPECT_THAT(Query("SELECT batch_id || ' ' || kind || ' ' || rows_read || ' ' || rows_published || ' ' || "
                    "input_rps FROM streaming_progress ORDER BY rowid"),
              ElementsAre("6 batch 30 30 15.0"));
  EXPECT_THAT(Query("SELECT epoch FROM epochs"), ElementsAre("6"));
}

// An epoch that ended while nobody looked is of the row after the restart.
TEST_F(OpsRecorderTest, ARestartWithinTheProcessLosesNoRow) {
  OpsRecorder recorder(folder_, {"p", "me", "7"}, &env_);
  recorder.Observe(ClicksPlan(1), After(1, 100));
  JobProgress again = After(3, 150);
  again.generation = 2;
  again.checkpoints.restored = After(2, 120).checkpoints.nodes;
  again.checkpoints.restored_epoch = 2;
  recorder.Observe(ClicksPlan(1), again);
  ASSERT_TRUE(recorder.Flush().ok());
  EXPECT_THAT(Query("SELECT sum(rows_read) FROM streaming_progress"), ElementsAre("150"));
}

// Nothing that comes out may be due to the outage: then the watermark waits for that split, whoever else
// there is.
TEST_F(OpsRecorderTest, ASplitInAnOutageHoldsTheWatermarkAndIsAsFarBehindAsNobodyKnows) {
  JobProgress job = After(1, 100);
  SplitProgress split;
  split.id = "t[0]";
  split.watermark = 1'772'368'400'000;
  split.backlog.settled = false;
  job.operators[0].splits = {split};
  job.operators[0].trouble = Status::External("no Kafka broker answers");
  OpsRecorder recorder(folder_, {"p", "me", "7"}, &env_);
  recorder.Observe(ClicksPlan(1), job);
  ASSERT_TRUE(recorder.Flush().ok());
  EXPECT_THAT(Query("SELECT split || ' ' || holds || ' ' || ifnull(lag_rows, 'NULL') || ' ' || "
                    "ifnull(lag_seconds, 'NULL') FROM splits"),
              ElementsAre("t[0] 1 NULL NULL"));
  EXPECT_THAT(Query("SELECT error_text FROM queries"), ElementsAre(HasSubstr("no Kafka broker answers")));
}

// KF-01: why nothing comes out is told by name.
TEST_F(OpsRecorderTest, TheSplitThatHoldsTheWatermarkIsNamed) {
  JobProgress job = After(1, 100);
  SplitProgress slow, fast, silent;
  slow.id = "t[0]";
  slow.watermark = 1'772'368'400'000;
  fast.id = "t[1]";
  fast.watermark = slow.watermark + 60'000;
  silent.id = "t[2]";
  silent.idle = true;
  job.operators[0].splits = {slow, fast, silent};
  OpsRecorder recorder(folder_, {"p", "me", "7"}, &env_);
  recorder.Observe(ClicksPlan(1), job);
  ASSERT_TRUE(recorder.Flush().ok());
  EXPECT_THAT(
      Query("SELECT split || ' ' || ifnull(watermark, 'none') || ' ' || idle || ' ' || holds FROM splits"),
      ElementsAre("t[0] 2026-03-01 12:33:20.000 0 1", "t[1] 2026-03-01 12:34:20.000 0 0", "t[2] none 1 0"));
}

TEST_F(OpsRecorderTest, WhatASourceIsConnectedWithIsKept) {
  JobProgress job = After(1, 100);
  job.operators[0].client = {{"library", "librdkafka 2.15.1"}};
  OpsRecorder recorder(folder_, {"p", "me", "7"}, &env_);
  recorder.Observe(ClicksPlan(1), job);
  ASSERT_TRUE(recorder.Flush().ok());
  EXPECT_THAT(Query("SELECT operator || ' ' || name || ' ' || value FROM clients"),
              ElementsAre("clicks library librdkafka 2.15.1"));
}

// Paths share the source's checks; each has its own rest.
TEST_F(OpsRecorderTest, EachPathToASinkIsARowOfItsOwn) {
  Plan plan = ClicksPlan(1);
  PlanNode raw = plan.nodes[2];
  raw.id = "raw";
  raw.inputs = {{0, {}}};
  plan.nodes.push_back(raw);
  JobProgress job = After(1, 100);
  job.checkpoints.nodes[0].fates = {{"dead", "malformed", 7}};
  job.checkpoints.nodes[1].fates = {{"late", "watermark", 40}};
  job.checkpoints.nodes[2].fates = {{"published", "", 60}};
  NodeState sink;
  sink.fates = {{"published", "", 100}};
  job.checkpoints.nodes.push_back(sink);
  OpsRecorder recorder(folder_, {"p", "me", "7"}, &env_);
  recorder.Observe(plan, job);
  ASSERT_TRUE(recorder.Flush().ok());
  EXPECT_THAT(Query("SELECT sink || ' ' || rows_read || ' ' || rows_published || ' ' || rows_late || ' ' || "
                    "rows_dlq || ' ' || rows_unaccounted FROM streaming_progress ORDER BY sink"),
              ElementsAre("out 107 60 40 7 0", "raw 107 100 0 7 0"));
}

// Before its first commit a query is seen to work.
TEST_F(OpsRecorderTest, TheQuerysRowIsOfNow) {
  OpsRecorder recorder(folder_, {"p", "me", "7"}, &env_);
  JobProgress job = After(0, 0);
  job.checkpoints = {};
  for (int64_t second = 1; second <= 2; ++second) {
    job.operators[0].rows_out = 1000 * second;
    job.operators[0].backlog = {500, -1, 3, 0};
    recorder.Observe(ClicksPlan(1), job);
    env_.Advance(1'000'000);
  }
  ASSERT_TRUE(recorder.Flush().ok());
  EXPECT_THAT(Query("SELECT epoch || ' ' || rows_read || ' ' || rows_per_s || ' ' || watermark || ' ' || "
                    "backlog_files FROM queries"),
              ElementsAre("0 2000 1000.0 2026-03-01 12:33:20.000 3"));
}

// Silence is not death.
TEST_F(OpsRecorderTest, NothingForTenSecondsIsARowToo) {
  OpsRecorder recorder(folder_, {"p", "me", ""}, &env_);
  recorder.Observe(ClicksPlan(1), After(1, 100));
  for (int second = 0; second < 25; ++second) {
    env_.Advance(1'000'000);
    recorder.Observe(ClicksPlan(1), After(1, 100));
  }
  ASSERT_TRUE(recorder.Flush().ok());
  EXPECT_THAT(
      Query("SELECT kind || ' ' || attempt || ' ' || rows_read FROM streaming_progress ORDER BY rowid"),
      ElementsAre("batch 1 100", "idle 2 0", "idle 3 0"));
}

TEST_F(OpsRecorderTest, SparksNamesAndTheSourcesPositions) {
  OpsRecorder recorder(folder_, {"p", "me", ""}, &env_);
  recorder.Observe(ClicksPlan(1), After(3, 100));
  ASSERT_TRUE(recorder.Flush().ok());
  const std::string json = Query("SELECT progress_json FROM streaming_progress").at(0);
  EXPECT_THAT(json, HasSubstr(R"("timestamp":"2026-03-01T12:34:56.789Z","batchId":3,"numInputRows":100)"));
  EXPECT_THAT(json, HasSubstr(R"("eventTime":{"watermark":"2026-03-01T12:33:20.000Z"})"));
  EXPECT_THAT(json, HasSubstr(R"("endOffset":{"0":{"file":"a.ndjson","offset":12}})"));
  EXPECT_THAT(json, HasSubstr(R"("sinks":[{"description":"out","numOutputRows":100,"bytesWritten":5000}])"));
  EXPECT_THAT(Query("SELECT source_offsets FROM streaming_progress"),
              ElementsAre(R"({"clicks":{"0":{"file":"a.ndjson","offset":12}}})"));
}

TEST_F(OpsRecorderTest, SplitsAreOfNowAndLossesStay) {
  JobProgress job = After(1, 100);
  SplitProgress split;
  split.id = "t[0]";
  split.backlog = {0, -1, -1, 0};
  split.durable = {30, -1, -1, 2500};
  split.losses = {{10, 30, "gone", 1000}};
  job.operators[0].splits = {split};
  {
    OpsRecorder recorder(folder_, {"p", "me", ""}, &env_);
    recorder.Observe(ClicksPlan(1), job);
    ASSERT_TRUE(recorder.Flush().ok());
  }
  // The next process hears of the loss again, and of one more, whose end nobody knows.
  OpsRecorder recorder(folder_, {"p", "me", ""}, &env_);
  job.operators[0].splits[0].losses.push_back({50, -1, "made again", 2000});
  recorder.Observe(ClicksPlan(1), job);
  recorder.Observe(ClicksPlan(1), job);
  ASSERT_TRUE(recorder.Flush().ok());
  EXPECT_THAT(
      Query("SELECT split || ' ' || lag_rows || ' ' || lag_seconds || ' ' || durable_lag_rows || ' ' || "
            "durable_lag_seconds FROM splits"),
      ElementsAre("t[0] 0 0.0 30 2.5"));
  EXPECT_THAT(
      Query("SELECT first_lost || ' ' || ifnull(last_lost, '?') || ' ' || ifnull(records, '?') || ' ' || "
            "reason FROM losses ORDER BY first_lost"),
      ElementsAre("10 29 20 gone", "50 ? ? made again"));
}

TEST_F(OpsRecorderTest, AFailureIsARow) {
  OpsRecorder recorder(folder_, {"p", "me", ""}, &env_);
  JobProgress job = After(1, 100);
  recorder.Observe(ClicksPlan(1), job);
  job.state = JobState::kFailed;
  job.status = Status::Data("'x' is no number");
  recorder.Observe(ClicksPlan(1), job);
  ASSERT_TRUE(recorder.Flush().ok());
  EXPECT_THAT(Query("SELECT kind || ' ' || error_class || ' ' || error_text FROM streaming_progress WHERE "
                    "kind = 'failed'"),
              ElementsAre("failed data error[data]: 'x' is no number"));
}

TEST_F(OpsRecorderTest, WhatCouldNotBeWrittenIsWrittenLater) {
  OpsRecorder recorder(folder_ / "later", {"p", "me", ""}, &env_);
  recorder.Observe(ClicksPlan(1), After(1, 100));
  EXPECT_EQ(recorder.Flush().domain(), Domain::kExternal);
  std::filesystem::create_directories(folder_ / "later");
  EXPECT_TRUE(recorder.Flush().ok());
  folder_ /= "later";
  EXPECT_THAT(Query("SELECT count(*) FROM streaming_progress"), ElementsAre("1"));
  folder_ = folder_.parent_path();
}

// A process may run for months.
TEST_F(OpsRecorderTest, WhatIsOlderThanThirtyDaysGoesWhileItRuns) {
  OpsRecorder recorder(folder_, {"p", "me", ""}, &env_);
  recorder.Observe(ClicksPlan(1), After(1, 100));
  ASSERT_TRUE(recorder.Flush().ok());
  env_.Advance(int64_t{31} * 86'400'000'000);
  recorder.Observe(ClicksPlan(1), After(2, 200));
  ASSERT_TRUE(recorder.Flush().ok());
  EXPECT_THAT(Query("SELECT epoch FROM epochs"), ElementsAre("2"));
  EXPECT_THAT(Query("SELECT batch_id FROM streaming_progress"), ElementsAre("2"));
}

}  // namespace
}  // namespace caudal
