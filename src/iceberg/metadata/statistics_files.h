// StatisticsFiles: the statistics that a table's metadata names, which caudal keeps as it found them.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

struct StatisticsFile {
  int64_t snapshot_id = 0;
  std::string path;
  int64_t size = 0;
  bool of_partitions = false;  // "partition-statistics": no Puffin file
};

// Data error for a list that is none.
Result<std::vector<StatisticsFile>> StatisticsFilesOf(const TableMetadata& table);
// The metadata no longer names those of these snapshots. REQUIRES: StatisticsFilesOf is OK.
void ForgetStatistics(const std::set<int64_t>& snapshots, TableMetadata* table);

}  // namespace caudal::iceberg
