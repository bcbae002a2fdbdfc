// Program: what a user names on the command line: a pipeline file with its SQL, or a SQL script alone. A run
// may have several.
//
// Planned once: settings, tables and the queries of its INSERTs. Plain data, owned by the command.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/catalog.h"
#include "api/plan.h"
#include "pipeline/pipeline_file.h"
#include "sql/session.h"

namespace caudal {

struct SqlFile {
  std::string path;
  std::string text;
};

struct ProgramText {
  std::string name;                  // of the pipeline: checkpoints, metrics and ops.* say it
  std::optional<PipelineFile> file;  // none for a bare script
  std::string profile;               // whose table definitions they are; empty: the file's own
  std::vector<SqlFile> sql;          // run one after the other; none: there is no SQL
};

// Reads `path`: *.yaml or *.yml is a pipeline file, all else a script, which has no profiles.
Result<ProgramText> ReadProgram(const std::string& path, const std::string& profile = "");

// What a script's statements may do to catalogs outside while it is planned: CREATE TABLE in one and the
// like.
enum class OutsideChanges {
  kPlanned,  // they are only thought of
  kMade,
};

class Program {
 public:
  // Plans everything and checks the pipeline file against it; starts nothing.
  // `settings` win over the script's own SET where they concern running (pace, memory).
  static Result<std::unique_ptr<Program>> Plan(ProgramText text, const Options& settings = {},
                                               OutsideChanges changes = OutsideChanges::kPlanned);

  const ProgramText& text() const { return text_; }
  const Catalog& catalog() const { return catalog_; }
  Catalog* mutable_catalog() { return &catalog_; }  // for further statements
  const std::vector<sql::Outcome>& outcomes() const { return outcomes_; }
  // Of the INSERTs, in order.
  std::vector<caudal::Plan> Queries() const;
  // User error if there is nothing to run.
  Status CheckRunnable() const;

 private:
  explicit Program(ProgramText text);
  Status Check() const;

  ProgramText text_;
  Catalog catalog_;
  std::vector<sql::Outcome> outcomes_;
};

// The programs of one run: User error if two of them are the same pipeline. A profile is of each.
Result<std::vector<std::unique_ptr<Program>>> PlanPrograms(const std::vector<std::string>& paths,
                                                           const std::string& profile,
                                                           const Options& settings = {},
                                                           OutsideChanges changes = OutsideChanges::kPlanned);

// How far the table's watermark stays behind its time column, in ms; none if it has no watermark or the
// distance is not constant.
std::optional<int64_t> WatermarkDelayMillis(const Table& table);

}  // namespace caudal
