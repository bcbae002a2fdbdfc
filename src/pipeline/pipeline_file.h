// PipelineFile: what SQL does not say about a pipeline: owner, SLOs, recovery, why the watermark is what it
// is.
//
// Plain data, read once at the start from YAML (docs/pipeline-file.md). The SLO document's own file loads
// unchanged. Unknown keys are refused, since a misspelt SLO is an SLO that nobody keeps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal {

struct PipelineFile {
  // A table's name and where the file has it.
  struct TableName {
    std::string name;
    std::string place;  // "p.yaml, line 3"
  };
  struct Slo {
    std::optional<double> freshness_p95_seconds;
    std::optional<double> completeness_percent;
  };
  struct Recovery {
    std::optional<int64_t> rto_minutes;
    TableName replay_source;
  };
  struct WatermarkReason {
    int64_t delay_millis = 0;
    std::string place;  // of the delay
    std::string why;
    std::optional<double> accepted_loss_ppm;
  };

  std::string path;  // of the file itself, for messages; none: there is no file
  std::string pipeline;
  std::string version;
  std::string owner;
  int64_t memory_bytes = 0;  // what all its queries together may hold; 0 = each one's own limit alone
  // Files in the order they are run, relative to this file: table definitions, which a profile replaces, and
  // what goes over them; no `sql` = <stem>.sql beside it.
  std::vector<std::string> tables, sql;
  std::map<std::string, std::vector<std::string>> profiles;  // by name: its `tables`
  std::vector<TableName> sources;
  std::map<std::string, TableName> targets;  // layer → table
  Slo slo;
  Recovery recovery;
  std::optional<WatermarkReason> watermark;
};

// User errors name the key and its line. `name` stands in the messages.
Result<PipelineFile> ParsePipelineFile(std::string_view yaml, const std::string& name);

// The table definitions of a profile; "" = of none. User error for a name that the file does not have.
Result<std::vector<std::string>> TableFiles(const PipelineFile& file, const std::string& profile);

// What the file promises against what the SQL does; all User errors.
struct PipelineQueries {
  std::vector<std::string> checkpoint_names;                // one a query
  std::vector<std::string> tables;                          // of the catalog
  std::vector<std::string> read_tables;                     // by those queries
  std::vector<std::string> written_tables;                  // by INSERT INTO
  std::vector<std::pair<std::string, int64_t>> watermarks;  // table, delay in ms
};
Status CheckPipeline(const PipelineFile& file, const PipelineQueries& queries);

}  // namespace caudal
