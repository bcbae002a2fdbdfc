#include "server/status_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caudal {
namespace {

using ::testing::HasSubstr;

JobProgress RunningJob() {
  JobProgress job;
  job.query = "p/q";
  job.generation = 3;
  job.checkpoints.last = {3, 9};
  OperatorProgress scan;
  scan.id = "clicks/scan/1";
  scan.label = "Scan";
  scan.rows_out = 42;
  job.operators = {scan};
  return job;
}

TEST(StatusBoardTest, LiveAsLongAsTheLoopGoesRound) {
  ManualEnv env;
  StatusBoard board(&env);
  board.Show({}, {});
  env.Advance(14'000'000);
  EXPECT_EQ(board.Live().code, 200);
  env.Advance(2'000'000);
  EXPECT_EQ(board.Live().code, 503);
  board.Show({}, {});
  EXPECT_EQ(board.Live().code, 200);
}

TEST(StatusBoardTest, ReadyUnlessAQueryDoesNotRunOrItsLastEpochFailed) {
  ManualEnv env;
  StatusBoard board(&env);
  board.Show({RunningJob()}, {"query p/r has failed: no"});
  EXPECT_EQ(board.Ready().code, 503);
  EXPECT_EQ(board.Ready().body, "query p/r has failed: no\n");
  board.Show({RunningJob()}, {});
  EXPECT_EQ(board.Ready().code, 200);
  JobProgress failing = RunningJob();
  failing.checkpoints.last_failure = Status::External("disk full");
  board.Show({failing}, {});
  EXPECT_EQ(board.Ready().code, 503);
  EXPECT_THAT(board.Ready().body, HasSubstr("query p/q: error[external]: disk full"));
}

TEST(StatusBoardTest, StatusAndMetricsAreOfTheLastLook) {
  ManualEnv env;
  StatusBoard board(&env);
  board.Show({RunningJob()}, {});
  EXPECT_THAT(board.Status().body,
              HasSubstr(R"({"queries":[{"query":"p/q","generation":3,"epoch":9,"committed":0,"operators":)"));
  EXPECT_THAT(board.Metrics().body, HasSubstr("caudal_checkpoint_epoch{query=\"p/q\"} 9\n"));
  EXPECT_EQ(board.Metrics().type, "text/plain; version=0.0.4; charset=utf-8");
}

}  // namespace
}  // namespace caudal
