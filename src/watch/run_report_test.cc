#include "watch/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/testing/clicks_plan.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;

NodeState Node(std::string id, std::string label, std::vector<int64_t> rows_in, int64_t rows_out,
               std::vector<CountedFate> fates) {
  NodeState node;
  node.id = std::move(id);
  node.label = std::move(label);
  node.rows_in = std::move(rows_in);
  node.rows_out = rows_out;
  node.fates = std::move(fates);
  return node;
}

// 100 rows: 7 malformed, 3 repeats, 90 written.
JobProgress Clicks() {
  JobProgress job;
  job.query = "p/out";
  job.checkpoints.committed = 2;
  job.checkpoints.nodes = {Node("clicks", "Scan", {}, 93, {{"dead", "malformed", 7}}),
                           Node("out/dedup/1", "Deduplicate", {93}, 90, {{"duplicate", "", 3}}),
                           Node("out", "Sink", {90}, 0, {{"published", "", 90}})};
  job.checkpoints.recent = {{{1, 1}, 0, 20, {{100, 50}, {300, 40}}}, {{1, 2}, 0, 20, {}}};
  return job;
}

TEST(RunReportTest, EachRowHasOneFateOnThePathToTheSink) {
  const QueryReport report = MakeReport(ClicksPlan(1), Clicks());
  EXPECT_EQ(report.rows_read, 100);
  ASSERT_EQ(report.paths.size(), 1u);
  EXPECT_EQ(report.paths[0].rows_unaccounted, 0);
  EXPECT_EQ(report.paths[0].rows_written, 90);
  EXPECT_EQ(report.paths[0].Rows("published"), 90);
  EXPECT_EQ(report.paths[0].Rows("dead"), 7);
  EXPECT_EQ(report.paths[0].Rows("late"), 0);
}

TEST(RunReportTest, ARowWithoutAFateIsMissed) {
  JobProgress job = Clicks();
  job.checkpoints.nodes[1].fates.clear();
  EXPECT_EQ(MakeReport(ClicksPlan(1), job).paths[0].rows_unaccounted, 3);
}

// Behind an operator that absorbs its rows there are results, which have no fate of their own.
TEST(RunReportTest, ResultsAreNoInputRows) {
  JobProgress job = Clicks();
  job.checkpoints.nodes[1].fates = {{"absorbed", "Aggregate", 93}};
  job.checkpoints.nodes[1].rows_out = 12;
  job.checkpoints.nodes[2] = Node("out", "Sink", {12}, 0, {{"published", "", 12}});
  const SinkPath path = MakeReport(ClicksPlan(1), job).paths[0];
  EXPECT_EQ(path.Rows("absorbed"), 93);
  EXPECT_EQ(path.Rows("published"), 0);
  EXPECT_EQ(path.rows_written, 12);
  EXPECT_EQ(path.rows_unaccounted, 0);
  ASSERT_EQ(path.change_fates.size(), 1u);
  EXPECT_EQ(path.change_fates[0].fate, "published");
}

// A result that the sink's NOT NULL refuses was in no report.
TEST(RunReportTest, ChangesThatAreLostAreTold) {
  JobProgress job = Clicks();
  job.checkpoints.nodes[1].fates = {{"absorbed", "Aggregate", 93}};
  job.checkpoints.nodes[2] = Node("out", "Sink", {12}, 0, {{"published", "", 10}, {"dead", "expression", 2}});
  const std::vector<QueryReport> reports = {MakeReport(ClicksPlan(1), job)};
  EXPECT_EQ(reports[0].paths[0].rows_unaccounted, 0);
  EXPECT_THAT(ReportText(reports), HasSubstr("           2 changes dead{expression}\n"));
  EXPECT_THAT(ReportText(reports), testing::Not(HasSubstr("changes published")));
  EXPECT_THAT(ReportJson(reports),
              HasSubstr("\"change_fates\":[{\"operator\":\"out\",\"fate\":\"published\""));
}

TEST(RunReportTest, FreshnessIsOverTheCommitsThatBroughtRows) {
  const QueryReport report = MakeReport(ClicksPlan(1), Clicks());
  EXPECT_EQ(report.freshness_p50, 100);
  EXPECT_EQ(report.freshness_p95, 300);
  EXPECT_EQ(report.freshness_commits, 1);
}

TEST(RunReportTest, BeforeTheFirstManifestNothingIsKnown) {
  const QueryReport report = MakeReport(ClicksPlan(1), JobProgress{});
  EXPECT_EQ(report.rows_read, 0);
  EXPECT_EQ(report.freshness_p50, -1);
}

TEST(WeightedQuantileTest, CountsWeights) {
  std::vector<std::pair<int64_t, int64_t>> samples = {{30, 1}, {10, 98}, {20, 1}};
  EXPECT_EQ(WeightedQuantile(&samples, 0.5), 10);
  EXPECT_EQ(WeightedQuantile(&samples, 0.99), 20);
  EXPECT_EQ(WeightedQuantile(&samples, 1), 30);
  samples.clear();
  EXPECT_EQ(WeightedQuantile(&samples, 0.5), -1);
}

TEST(RunReportTest, AsTextAndAsJson) {
  const std::vector<QueryReport> reports = {MakeReport(ClicksPlan(1), Clicks())};
  EXPECT_THAT(ReportText(reports), HasSubstr("query p/out: 100 rows read, 2 commits, freshness p50 100 ms"));
  EXPECT_THAT(ReportText(reports), HasSubstr("7 dead{malformed}\n"));
  EXPECT_THAT(ReportJson(reports), HasSubstr("{\"sink\":\"out\",\"rows_read\":100,\"rows_written\":90,"
                                             "\"rows_unaccounted\":0,\"fates\":[{\"operator\":\"clicks\""));
}

}  // namespace
}  // namespace caudal
