// Player: plays one .test file in one mode: SQL, feeds, crashes and restores against the real planner,
// runtime and operators, under a seeded executor and a clock that only `advance` moves.
//
// One use a file and mode; one thread. Owns the whole world that the file sees: catalog, feeds, collected
// results, state in memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/catalog.h"
#include "connect/collect/collect_connector.h"
#include "connect/feed/feed_connector.h"
#include "connect/filesystem/filesystem_connector.h"
#include "connect/iceberg/iceberg_connector.h"
#include "connect/jdbc/jdbc_connector.h"
#include "drill/changelog_text.h"
#include "drill/test_file.h"
#include "fs/memory_file_system.h"
#include "run/job.h"
#include "run/schedule/seeded_executor.h"
#include "sql/session.h"

namespace caudal::drill {

class Player {
 public:
  Player(const TestFile& file, Mode mode, uint64_t seed);
  ~Player();

  // Whether the mode is any different for the file: without a streaming query all of it is played as written.
  static bool HasAnythingToPlay(const TestFile& file, Mode mode);
  // OK when every expectation of the file is met in this mode; else the first that is not, with its line.
  Status Play();

 private:
  // A `pipeline` block: a streaming query into a collecting table of its own. An `insert` block: one into
  // tables of the file, which knows neither schema nor key here.
  struct Pipeline {
    std::string insert;  // the statement, planned anew at each start
    Schema schema;
    std::vector<int> upsert_key;
    std::unique_ptr<Job> job;
    bool merges_changes = false;  // in one of its plans so far
    size_t seen = 0;              // committed changes that a `changelog` has shown
    int starts = 0;
  };

  Status PlayBlock(const TestBlock& block);
  Status PlayBounded();
  Status OnStatement(const TestBlock& block);
  Status OnQuery(const TestBlock& block);
  Status OnPipeline(const TestBlock& block);
  Status OnInsert(const TestBlock& block);
  Status OnContents(const TestBlock& block);
  Status OnFeed(const TestBlock& block);
  Status OnChangelog(const TestBlock& block);
  Status OnTable(const TestBlock& block);
  Status OnExplain(const TestBlock& block);
  Status OnMetric(const TestBlock& block);
  Status OnWatermark(const TestBlock& block);
  Status OnAdvance(const TestBlock& block);
  Status OnEnd();

  // In the bounded mode: an INSERT of rows of its own ends before the queries begin that may look for them.
  Status FillBounded(const std::string& name, Pipeline* pipeline);
  Result<Plan> PlanInsert(const std::string& name, Pipeline* pipeline);
  Status Declare(const std::string& name, const TestBlock& block, Pipeline* pipeline);
  // The rows of a batch query, as they come.
  Result<std::vector<TextChange>> RunQuery(const TestBlock& block, Pipeline* pipeline);
  Status StartJob(const std::string& name, Pipeline* pipeline);
  // Runs everything until only time could go on, and makes it visible.
  Status Settle();
  Status RunUntilIdle();
  // Runs everything until the job has ended well.
  Status AwaitEnd(Job& job);
  void Crash();
  Status Restore();
  bool crashed() const;
  Result<std::vector<TextChange>> Collect(const std::string& name, const Pipeline& pipeline, size_t from);
  Result<Pipeline*> FindPipeline(const TestBlock& block, size_t word);
  JobOptions MakeJobOptions();
  EvaluatorOptions evaluator_options() const;
  // The body with $FOLDER, a folder on disk that is the file's own, put in.
  std::string SqlOf(const TestBlock& block);

  const TestFile& file_;
  Mode mode_;
  ManualEnv env_;
  SeededExecutor executor_;
  MemoryFileSystem files_;
  FeedRegistry feeds_;
  CollectRegistry collected_;
  FeedConnector feed_connector_;
  CollectConnector collect_connector_;
  FilesystemConnector filesystem_connector_;
  IcebergConnector iceberg_connector_;
  JdbcConnector jdbc_connector_;
  std::vector<const Connector*> connectors_;
  Catalog catalog_;
  sql::Session session_;
  std::map<std::string, Pipeline> pipelines_;
  int queries_ = 0;
  std::string folder_;  // made when first named
};

}  // namespace caudal::drill
