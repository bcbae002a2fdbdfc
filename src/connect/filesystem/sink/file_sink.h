// FileSink: rows into files, exactly once: hidden files that get their names when their epoch commits.
//
//   .caudal-<sink>-<generation>-<task>-<n>.inprogress        while it is written and prepared
//   part-<sink>-<generation>-<epoch>-<task>-<n>.parquet      after Commit's rename
//   .caudal-<sink>.committed                                 in the table's folder: see CommitLedger
//
// Where there is no rename, in an object store, a file is an upload without a name that Commit completes:
//
//   part-<sink>-<generation>_<task>-<n>.parquet
//
// The first two in the folder of the partition, so that the rename is atomic. <sink> is a number of 16
// hexadecimal digits made of the checkpoint's identity and the sink's id, so that no two sinks, of one plan,
// of two, or of one started over, ever give one name; and the rename never replaces a file. An epoch ends all
// its files.
#pragma once

#include "api/connector.h"
#include "connect/filesystem/file_options.h"
#include "connect/filesystem/sink/output_file.h"
#include "data/message.h"
#include "fs/pending_files.h"

namespace caudal {

// What the writers and the committer of one sink share. Plain data.
struct FileSinkPlan {
  Env* env = nullptr;
  OutputFile::Format format;
  std::string root;                    // absolute
  std::vector<int> content_columns;    // positions in a chunk
  std::vector<int> partition_columns;  // positions in a chunk
  std::vector<std::string> partition_names;
  std::string sink;  // its number, as names have it
  int64_t generation = 0;
  PendingFiles* pending = nullptr;  // of a store without renames
  bool ephemeral = false;           // what this very generation did not commit is a leftover, too

  std::string hidden_prefix() const { return ".caudal-" + sink + "-"; }
  std::string final_prefix() const { return "part-" + sink + "-"; }
  std::string ledger_path() const { return root + "/.caudal-" + sink + ".committed"; }
  // Where a file is written. `folder`: of the partition, relative.
  std::string WritePath(const std::string& folder, int task, int64_t number) const;
  // What it becomes.
  std::string FinalPath(const std::string& folder, Epoch epoch, int task, int64_t number) const;
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
