// FileSink: rows into files, exactly once: hidden files that get their names when their epoch commits.
//
//   .caudal-<query>-<hash>-<generation>-<task>-<n>.inprogress   while it is written and prepared
//   part-<query>-<generation>-<epoch>-<task>-<n>.parquet        after Commit's rename
//
// Both in the folder of the partition, so that the rename is atomic. An epoch ends all its files.
#pragma once

#include "api/connector.h"
#include "connect/filesystem/file_options.h"
#include "connect/filesystem/sink/output_file.h"

namespace caudal {

// What the writers and the committer of one sink share. Plain data.
struct FileSinkPlan {
  OutputFile::Format format;
  std::string root;                    // absolute
  std::vector<int> content_columns;    // positions in a chunk
  std::vector<int> partition_columns;  // positions in a chunk
  std::vector<std::string> partition_names;
  std::string query;       // fit for a file's name
  std::string query_hash;  // tells queries apart whose names look the same there
  int64_t generation = 0;

  std::string hidden_prefix() const { return ".caudal-" + query + "-" + query_hash + "-"; }
  // `folder`: of the partition, relative.
  std::string HiddenPath(const std::string& folder, int task, int64_t number) const;
};

class FileSink : public Sink {
 public:
  static Result<std::unique_ptr<Sink>> Make(const Table& table, const ConnectorContext& context);

  ChangelogKinds accepts() const override { return ChangelogKinds::InsertOnly(); }
  std::string_view guarantee() const override { return "exactly once"; }
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int task) override;
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override;

 private:
  explicit FileSink(FileSinkPlan plan) : plan_(std::move(plan)) {}

  FileSinkPlan plan_;
};

}  // namespace caudal
