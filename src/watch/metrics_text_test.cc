#include "watch/metrics_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caudal {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

OperatorProgress Scan() {
  OperatorProgress scan;
  scan.id = "clicks/scan/1";
  scan.label = "Scan";
  scan.rows_out = 90;
  scan.bytes_read = 12'345;
  scan.fates = {{"dead", "malformed", 10}};
  scan.sinks = {"silver", "raw"};
  scan.watermark = {1'000'000, 0};
  scan.backlog = {700, 4096, 3, 2500};
  scan.busy = 0.25;
  scan.blocked = 0.5;
  scan.idle = 0.25;
  return scan;
}

JobProgress Job() {
  OperatorProgress dedup;
  dedup.id = "deduplicated/deduplicate/1";
  dedup.label = "Deduplicate";
  dedup.rows_in = {90};
  dedup.rows_out = 80;
  dedup.state_rows = 70;
  dedup.state_bytes = 5600;
  JobProgress job;
  job.query = "p/q";
  OperatorProgress sink;
  sink.id = "silver";
  sink.label = "Sink";
  job.operators = {Scan(), dedup, sink};
  job.checkpoints.bytes_written = {{"silver", 4711}};
  job.checkpoints.last = {2, 17};
  job.checkpoints.committed = 5;
  job.checkpoints.abandoned = 1;
  job.checkpoints.recent = {{{2, 17}, 1'002'000, 350, {}}};
  return job;
}

// As in `status`: what an operator made of rows is no input row, and has no fate.
TEST(MetricsTextTest, FatesAreOfInputRows) {
  JobProgress job = Job();
  job.operators[2].fates = {{"published", "", 12}};
  job.operators[2].sinks = {"silver"};
  EXPECT_THAT(MetricsText({job}, 0), HasSubstr("fate=\"published\""));
  job.operators[2].takes_input_rows = false;
  EXPECT_THAT(MetricsText({job}, 0), Not(HasSubstr("fate=\"published\"")));
}

// Everything that an operator of the run has to see, by the name that dashboards use.
TEST(MetricsTextTest, SaysWhatPartNineNames) {
  const std::string text = MetricsText({Job()}, 1'060'000);
  const std::string scan = "{query=\"p/q\",operator=\"clicks/scan/1\",kind=\"Scan\"}";
  const std::string dedup = "{query=\"p/q\",operator=\"deduplicated/deduplicate/1\",kind=\"Deduplicate\"}";
  for (const std::string& line : {
           "caudal_rows_out_total" + scan + " 90",
           "caudal_rows_in_total" + scan + " 100",  // with those that it kept aside
           "caudal_rows_in_total" + dedup + " 90",
           "caudal_bytes_read_total" + scan + " 12345",
           std::string("caudal_bytes_written_total{query=\"p/q\",operator=\"silver\",kind=\"Sink\"} 4711"),
           "caudal_backlog_rows" + scan + " 700",
           "caudal_backlog_bytes" + scan + " 4096",
           "caudal_backlog_files" + scan + " 3",
           "caudal_backlog_seconds" + scan + " 2.5",
           "caudal_watermark_lag_seconds" + scan + " 60",
           "caudal_state_rows" + dedup + " 70",
           "caudal_state_bytes" + dedup + " 5600",
           "caudal_busy_ratio" + scan + " 0.25",
           "caudal_blocked_ratio" + scan + " 0.5",
           "caudal_idle_ratio" + scan + " 0.25",
           std::string("caudal_checkpoint_duration_seconds{query=\"p/q\"} 0.35"),
           std::string("caudal_checkpoint_ok{query=\"p/q\"} 1"),
           std::string("caudal_checkpoints_committed_total{query=\"p/q\"} 5"),
           std::string("caudal_checkpoints_abandoned_total{query=\"p/q\"} 1"),
           std::string("caudal_checkpoint_epoch{query=\"p/q\"} 17"),
           std::string("caudal_up{query=\"p/q\"} 1"),
       }) {
    EXPECT_THAT(text, HasSubstr("\n" + line + "\n"));
  }
  for (const std::string sink : {"silver", "raw"}) {
    EXPECT_THAT(text,
                HasSubstr("kind=\"Scan\",sink=\"" + sink + "\",fate=\"dead\",name=\"malformed\"} 10\n"));
  }
}

TEST(MetricsTextTest, TellsWhatASinkIsConnectedWith) {
  JobProgress job = Job();
  job.operators[2].client = {{"library", "librdkafka 2.15.1"}, {"compression", "zstd"}};
  EXPECT_THAT(MetricsText({job}, 0),
              HasSubstr("\ncaudal_client_info{query=\"p/q\",operator=\"silver\",kind=\"Sink\","
                        "library=\"librdkafka 2.15.1\",compression=\"zstd\"} 1\n"));
}

TEST(MetricsTextTest, TheLagOfEachSplitIsZeroOrKnownOrLeftOut) {
  JobProgress job = Job();
  SplitProgress ahead, behind, unknown;
  ahead.id = "t[0]";
  ahead.backlog = {0, -1, -1, 0};
  ahead.durable = {0, -1, -1, 0};
  ahead.gaps = 11;
  ahead.idle = true;
  behind.watermark = -2500;
  behind.id = "t[1]";
  behind.backlog = {40, -1, -1, 1500};
  behind.durable = {70, -1, -1, -1};  // nothing of it is committed: its age is not known
  behind.losses = {{3, 9, "gone", 0}};
  unknown.id = "in";
  job.operators[0].splits = {ahead, behind, unknown};
  const std::string text = MetricsText({job}, 0);
  const std::string scan = "{query=\"p/q\",operator=\"clicks/scan/1\",kind=\"Scan\",split=";
  for (const std::string& line : {
           "caudal_split_lag_rows" + scan + "\"t[0]\"} 0",
           "caudal_split_lag_seconds" + scan + "\"t[0]\"} 0",
           "caudal_split_durable_lag_rows" + scan + "\"t[0]\"} 0",
           "caudal_split_durable_lag_seconds" + scan + "\"t[0]\"} 0",
           "caudal_split_gaps_total" + scan + "\"t[0]\"} 11",
           "caudal_split_lag_rows" + scan + "\"t[1]\"} 40",
           "caudal_split_lag_seconds" + scan + "\"t[1]\"} 1.5",
           "caudal_split_durable_lag_rows" + scan + "\"t[1]\"} 70",
           "caudal_lost_ranges_total" + scan + "\"t[1]\"} 1",
           "caudal_split_idle" + scan + "\"t[0]\"} 1",
           "caudal_split_idle" + scan + "\"t[1]\"} 0",
           "caudal_split_watermark_lag_seconds" + scan + "\"t[1]\"} 2.5",
       }) {
    EXPECT_THAT(text, HasSubstr("\n" + line + "\n"));
  }
  EXPECT_THAT(text, Not(HasSubstr("durable_lag_seconds" + scan + "\"t[1]\"")));
  EXPECT_THAT(text, Not(ContainsRegex("lag[^\n]*split=\"in\"")));
}

TEST(MetricsTextTest, EachMetricSaysItsKindOnce) {
  const std::string text = MetricsText({Job(), Job()}, 0);
  const std::string type = "# TYPE caudal_rows_out_total counter\n";
  const size_t first = text.find(type);
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find(type, first + 1), std::string::npos);
}

TEST(MetricsTextTest, WhatIsNotKnownIsLeftOut) {
  JobProgress job = Job();
  job.operators[0].backlog = {};
  job.operators[0].watermark = {};
  const std::string text = MetricsText({job}, 0);
  EXPECT_THAT(text, Not(HasSubstr("caudal_backlog_rows{")));
  EXPECT_THAT(text, Not(HasSubstr("caudal_watermark_lag_seconds{")));
}

TEST(MetricsTextTest, AFailedEpochAndAFailedQueryShow) {
  JobProgress job = Job();
  job.state = JobState::kFailed;
  job.checkpoints.last_failure = Status::External("disk full");
  const std::string text = MetricsText({job}, 0);
  EXPECT_THAT(text, HasSubstr("caudal_up{query=\"p/q\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("caudal_checkpoint_ok{query=\"p/q\"} 0\n"));
}

TEST(MetricsTextTest, NamesAreEscaped) {
  JobProgress job = Job();
  job.query = "a\"b\\c\nd";
  EXPECT_THAT(MetricsText({job}, 0), HasSubstr("caudal_up{query=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

}  // namespace
}  // namespace caudal
