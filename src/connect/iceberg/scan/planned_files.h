// PlannedFiles: every `shares`-th data file of a plan, read one after the other.
//
// One thread; blocks. What it refers to outlives it.
#pragma once

#include <memory>
#include <vector>

#include "connect/iceberg/scan/data_file_reader.h"
#include "connect/iceberg/scan/file_filter.h"
#include "connect/iceberg/scan/scan_rows.h"

namespace caudal {

// What the reading of any plan of a table needs.
struct ScanSurroundings {
  FileSystem* files = nullptr;
  std::vector<ScanColumn> columns;  // bound
  FileFilter filter;
  int share = 0;
  int shares = 1;
};

class PlannedFiles {
 public:
  PlannedFiles(const ScanSurroundings* around, const iceberg::TableMetadata* table, iceberg::ScanPlan plan);

  // The next rows, from `position` on, which is moved behind them; without any: all is read. Files that the
  // filter leaves out count in positions all the same, which another query may go on from.
  Result<SourceRows> Next(ScanPosition* position);

 private:
  const ScanSurroundings& around_;
  const iceberg::TableMetadata& table_;
  iceberg::ScanPlan plan_;
  std::vector<const iceberg::ScanFile*> mine_;
  std::unique_ptr<DataFileReader> reader_;  // of the file number position.files
};

}  // namespace caudal
