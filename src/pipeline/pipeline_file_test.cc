#include "pipeline/pipeline_file.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

// As it stands in the requirements, unchanged.
constexpr const char* kSloDocument = R"(pipeline: clickstream
sources:
  - main.bronze.web_events
targets:
  silver: main.silver.web_events
  gold: main.gold.sessions_5m
slo:
  freshness_p95_seconds: 300
  completeness_percent: 99.5
recovery:
  rto_minutes: 30
  replay_source: main.bronze.web_events
owner: data-platform-oncall
)";

std::string ErrorOf(const std::string& yaml) { return ParsePipelineFile(yaml, "p.yaml").status().ToString(); }

TEST(PipelineFileTest, SloDocumentsFileLoadsUnchanged) {
  Result<PipelineFile> file = ParsePipelineFile(kSloDocument, "p.yaml");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(file->targets.at("gold"), "main.gold.sessions_5m");
  EXPECT_EQ(file->slo.completeness_percent, 99.5);
  EXPECT_EQ(file->recovery.rto_minutes, 30);
}

TEST(PipelineFileTest, WithoutOwnerIsRefused) {
  EXPECT_EQ(
      ErrorOf("pipeline: x\n"),
      "error[user]: pipeline 'x' has no owner\n  at p.yaml\n  hint: add 'owner: <who is called at night>'");
}

TEST(PipelineFileTest, WatermarkMustSayWhy) {
  EXPECT_EQ(ErrorOf("pipeline: x\nowner: o\nwatermark:\n  delay: 5 min\n"),
            "error[user]: 'watermark' does not say why\n  at p.yaml, line 4\n"
            "  hint: add 'why': what is lost by waiting no longer, and who agreed to it");
}

TEST(PipelineFileTest, MisspeltKeyAndBrokenYamlNameTheLine) {
  EXPECT_EQ(ErrorOf("pipeline: x\nowner: o\nslo:\n  freshnes_p95_seconds: 3\n"),
            "error[user]: unknown key 'freshnes_p95_seconds' in 'slo'\n  at p.yaml, line 4\n"
            "  hint: keys are freshness_p95_seconds, completeness_percent");
  EXPECT_NE(ErrorOf("pipeline: [x\n").find("not YAML"), std::string::npos);
  EXPECT_NE(ErrorOf("").find("is not a map"), std::string::npos);
  EXPECT_NE(ErrorOf("pipeline: ../x\nowner: o").find("cannot name a pipeline"), std::string::npos);
}

TEST(PipelineFileTest, SqlIsOneFileOrAListInOrder) {
  const std::string head = "pipeline: x\nowner: o\n";
  EXPECT_TRUE(ParsePipelineFile(head, "p.yaml")->sql.empty());
  EXPECT_EQ(ParsePipelineFile(head + "sql: a.sql\n", "p.yaml")->sql, std::vector<std::string>{"a.sql"});
  EXPECT_EQ(ParsePipelineFile(head + "sql: [tables.sql, a.sql]\n", "p.yaml")->sql,
            (std::vector<std::string>{"tables.sql", "a.sql"}));
  const std::string wrong = "error[user]: 'sql' is not a file's name or a list of them\n  at p.yaml, line 3";
  EXPECT_EQ(ErrorOf(head + "sql: {a: b}\n"), wrong);
  EXPECT_EQ(ErrorOf(head + "sql: [[a]]\n"), wrong);
  EXPECT_TRUE(ParsePipelineFile(head + "sql:\n", "p.yaml")->sql.empty());
}

TEST(PipelineFileTest, QueriesAreCheckedAgainstTheFile) {
  PipelineFile file = *ParsePipelineFile(
      "pipeline: p\nowner: o\ntargets: {silver: main.silver}\nwatermark: {delay: 5 min, why: agreed}",
      "p.yaml");
  EXPECT_EQ(CheckPipeline(file, {{"silver", "silver"}, {"silver"}, {}}).message(),
            "two queries of pipeline 'p' would share the checkpoint 'silver'");
  EXPECT_EQ(CheckPipeline(file, {{"gold"}, {"gold"}, {}}).message(),
            "target 'main.silver' (silver) is written by no query");
  EXPECT_EQ(CheckPipeline(file, {{"silver"}, {"silver"}, {{"t", 1000}}}).message(),
            "table 't' has a watermark delay of 1000 ms, the pipeline file gives its reason for 300000 ms");
  EXPECT_TRUE(CheckPipeline(file, {{"silver"}, {"silver"}, {{"t", 300000}}}).ok());
}

}  // namespace
}  // namespace caudal
