// FilesInTurn: rows of data files, read one file after the other, behind a position.
//
// One thread; blocks. What it refers to outlives it.
#pragma once

#include <memory>
#include <vector>

#include "connect/iceberg/scan/data_file_reader.h"
#include "connect/iceberg/scan/file_filter.h"
#include "connect/iceberg/scan/scan_rows.h"

namespace caudal {

// What the reading of any files of a table needs.
struct ScanSurroundings {
  FileSystem* files = nullptr;
  std::vector<ScanColumn> columns;  // bound
  FileFilter filter;
  int share = 0;
  int shares = 1;
};

class FilesInTurn {
 public:
  virtual ~FilesInTurn() = default;

  // The next rows, from `position` on, which is moved behind them; without any: all is read. Files that the
  // filter leaves out count in positions all the same, which another query may go on from.
  Result<SourceRows> Next(ScanPosition* position);

 protected:
  FilesInTurn(const ScanSurroundings* around, const iceberg::TableMetadata* table)
      : around_(*around), table_(*table) {}

  virtual size_t files() const = 0;
  virtual const iceberg::LiveFile& file(size_t number) const = 0;
  virtual Result<std::unique_ptr<DataFileReader>> Open(size_t number, int64_t first) = 0;
  // The rows as they are handed on.
  virtual Chunk Finish(size_t number, Chunk chunk) { return chunk; }

  const ScanSurroundings& around_;
  const iceberg::TableMetadata& table_;

 private:
  std::unique_ptr<DataFileReader> reader_;  // of the file number position.files
};

}  // namespace caudal
