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
  EXPECT_EQ(file->targets.at("gold").name, "main.gold.sessions_5m");
  EXPECT_EQ(file->slo.completeness_percent, 99.5);
  EXPECT_EQ(file->recovery.rto_minutes, 30);
}

TEST(PipelineFileTest, WithoutOwnerIsRefused) {
  EXPECT_EQ(
      ErrorOf("pipeline: x\n"),
      "error[user]: pipeline 'x' has no owner\n  at p.yaml\n  hint: add 'owner: <who is called at night>'");
}

TEST(PipelineFileTest, MemoryIsBytes) {
  const std::string head = "pipeline: x\nowner: o\n";
  EXPECT_EQ(ParsePipelineFile(head, "p.yaml")->memory_bytes, 0);
  EXPECT_EQ(ParsePipelineFile(head + "memory: 2 GB\n", "p.yaml")->memory_bytes, int64_t{2} << 30);
  const std::string error = ErrorOf(head + "memory: much\n");
  EXPECT_NE(error.find("\n  at p.yaml, line 3\n  hint: as in 'memory: 2 GB'"), std::string::npos) << error;
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

TEST(PipelineFileTest, WhatYamlWouldPassOverIsRefused) {
  const std::string head = "pipeline: x\nowner: o\n";
  EXPECT_EQ(ErrorOf(head + "version: 1\nowner: p\n"),
            "error[user]: key 'owner' is there twice\n  at p.yaml, line 4\n"
            "  hint: the first one is in line 2: remove one of them");
  const auto twice = [&](const std::string& more) {
    return ErrorOf(head + more).find("there twice\n  at p.yaml, line 5");
  };
  EXPECT_NE(twice("targets:\n  a: b\n  a: c\n"), std::string::npos);
  EXPECT_NE(twice("slo:\n  completeness_percent: 1\n  completeness_percent: 2\n"), std::string::npos);
  EXPECT_NE(twice("watermark: {why: a, delay: 1 s,\n\n  why: b}\n"), std::string::npos);
  EXPECT_EQ(ErrorOf(head + "---\npipeline: y\nowner: p\n"),
            "error[user]: a second document begins in the pipeline file\n  at p.yaml, line 3\n"
            "  hint: a file describes one pipeline: remove the '---' and what follows it");
  EXPECT_TRUE(ParsePipelineFile("# Ours.\n\n---\n" + head + "...\n", "p.yaml").ok());
  EXPECT_TRUE(ParsePipelineFile(head + "version: ---\n", "p.yaml").ok());
  EXPECT_FALSE(ParsePipelineFile(",a", "p.yaml").ok());  // no end to it for YAML::LoadAll
}

TEST(PipelineFileTest, AProfileReplacesTheTableDefinitions) {
  const std::string head = "pipeline: x\nowner: o\n";
  const PipelineFile file = *ParsePipelineFile(head +
                                                   "tables: t.sql\nsql: [v.sql, q.sql]\nprofiles:\n  kafka: "
                                                   "{tables: [a.sql, b.sql]}\n  s3: {tables: c.sql}\n",
                                               "p.yaml");
  EXPECT_EQ(*TableFiles(file, ""), std::vector<std::string>{"t.sql"});
  EXPECT_EQ(*TableFiles(file, "kafka"), (std::vector<std::string>{"a.sql", "b.sql"}));
  EXPECT_EQ(TableFiles(file, "kafak").status().ToString(),
            "error[user]: pipeline 'x' has no profile 'kafak'\n  at p.yaml\n  hint: it has 'kafka', 's3'");
  EXPECT_EQ(TableFiles(*ParsePipelineFile(head, "p.yaml"), "kafka").status().hint(), "it has no 'profiles'");
  for (const auto& [more, said] : std::initializer_list<std::pair<const char*, const char*>>{
           {"profiles: {k: {tables: a.sql}}", "there are profiles, and no 'tables' that they could replace"},
           {"tables: t.sql\nprofiles: {k: {}}", "profile 'k' has no 'tables'"},
           {"tables: t.sql\nprofiles: {k: {sql: a.sql}}", "unknown key 'sql' in profile 'k'"},
           {"tables: t.sql\nprofiles: [k]", "'profiles' is not a map of name: profile"},
           {"tables: {a: b}", "'tables' is not a file's name or a list of them"},
           {"tables: t.sql\nprofiles: {k: {tables: a}, k: {tables: b}}", "key 'k' is there twice"}}) {
    EXPECT_NE(ErrorOf(head + more).find(said), std::string::npos) << ErrorOf(head + more);
  }
}

TEST(PipelineFileTest, NoMessageNamesLineZero) {
  const std::string head = "pipeline: x\nowner: o\n";
  for (const std::string& yaml :
       {std::string(), std::string("---\n---\n"), head + "slo:\n", head + "watermark:\n", head + "sources:\n",
        head + "targets:\n", head + "recovery:\n", std::string("[x"), std::string("*x"), head + "---\n"}) {
    EXPECT_NE(ErrorOf(yaml).find("p.yaml, line "), std::string::npos) << yaml << ErrorOf(yaml);
    EXPECT_EQ(ErrorOf(yaml).find("line 0"), std::string::npos) << yaml << ErrorOf(yaml);
  }
}

TEST(PipelineFileTest, QueriesAreCheckedAgainstTheFile) {
  PipelineFile file = *ParsePipelineFile(
      "pipeline: p\nowner: o\ntargets: {silver: main.silver}\nwatermark: {delay: 5 min, why: agreed}",
      "p.yaml");
  PipelineQueries queries{{"silver", "silver"}, {"t"}, {"t"}, {"silver"}, {}};
  EXPECT_EQ(CheckPipeline(file, queries).message(),
            "two queries of pipeline 'p' would share the checkpoint 'silver'");
  queries.checkpoint_names = {"silver"};
  EXPECT_TRUE(CheckPipeline(file, queries).ok());
  queries.written_tables = {"gold"};
  EXPECT_EQ(CheckPipeline(file, queries).ToString(),
            "error[user]: target 'main.silver' (silver) is written by no query\n  at p.yaml, line 3\n"
            "  hint: add INSERT INTO `silver` to the SQL, or remove the target");
  queries.written_tables = {"silver"};
  queries.watermarks = {{"t", 1000}};
  EXPECT_EQ(CheckPipeline(file, queries).ToString(),
            "error[user]: table 't' has a watermark delay of 1000 ms, the pipeline file gives its reason for "
            "300000 ms\n  at p.yaml, line 4\n  hint: make both the same");
  queries.watermarks = {{"t", 300000}};
  EXPECT_TRUE(CheckPipeline(file, queries).ok());
}

TEST(PipelineFileTest, SourcesMustBeRead) {
  const auto check = [](const std::string& more, const PipelineQueries& queries) {
    return CheckPipeline(*ParsePipelineFile("pipeline: p\nowner: o\n" + more, "p.yaml"), queries).ToString();
  };
  const PipelineQueries queries{{"q"}, {"t", "archive"}, {"t"}, {"out"}, {}};
  EXPECT_EQ(check("sources:\n  - main.t\n  - nothere\n", queries),
            "error[user]: source 'nothere' is read by no query\n  at p.yaml, line 5\n"
            "  hint: write the name of a table that the SQL reads, or remove the source");
  EXPECT_EQ(check("recovery:\n  replay_source: nothere\n", queries),
            "error[user]: there is no table 'nothere' to replay from\n  at p.yaml, line 4\n"
            "  hint: the SQL has t, archive");
  EXPECT_EQ(check("sources: [t]\nrecovery: {replay_source: archive}\n", queries), "ok");
  // Without SQL there is nothing to compare with.
  EXPECT_EQ(check("sources: [nothere]\nrecovery: {replay_source: alsonot}\n", {}), "ok");
}

TEST(PipelineFileTest, AWatermarkThatWaitsMustSayWhy) {
  const PipelineFile file = *ParsePipelineFile("pipeline: p\nowner: o\n", "p.yaml");
  PipelineQueries queries{{"q"}, {"t"}, {"t"}, {"out"}, {{"t", 60'000}}};
  EXPECT_EQ(CheckPipeline(file, queries).ToString(),
            "error[user]: the watermark of table 't' waits 60000 ms, and the pipeline file does not say why\n"
            "  at p.yaml\n  hint: add 'watermark: {delay: 60000 ms, why: …}'");
  queries.watermarks = {{"t", 0}};
  EXPECT_TRUE(CheckPipeline(file, queries).ok());
}

}  // namespace
}  // namespace caudal
