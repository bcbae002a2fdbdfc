// DataFileReader: the rows of one data file as the table has them now: columns by field id, whatever they are
// named there, and deleted rows left out.
//
// One thread; blocks. What it refers to outlives it.
#pragma once

#include <memory>
#include <vector>

#include "connect/iceberg/scan/scan_columns.h"
#include "format/parquet_reader.h"
#include "fs/file_system.h"
#include "iceberg/deletes/position_set.h"
#include "iceberg/metadata/table_metadata.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal {

// Rows of a file, deleted ones among them that the chunk's selection leaves out.
struct FileRows {
  Chunk chunk;
  int64_t first = 0;  // the number of the chunk's first physical row in the file
};

class DataFileReader {
 public:
  // From row `first` of the file on. User error for what is not read: other formats than Parquet, files
  // without field ids, defaults of some types; Data error for a file with another number of rows than the
  // manifest says.
  static Result<std::unique_ptr<DataFileReader>> Open(FileSystem* files, const iceberg::TableMetadata& table,
                                                      const iceberg::ScanPlan& plan,
                                                      const iceberg::ScanFile& file,
                                                      const std::vector<ScanColumn>& columns, int split,
                                                      int64_t first);

  // A chunk without physical rows at the end.
  Result<FileRows> Next();
  // Positions that are left out.
  const iceberg::PositionSet& deleted() const { return deleted_; }

 private:
  // Where a column comes from: the file's, or the same value in every row; of row lineage what the file says,
  // or what follows from its place in the table.
  struct Source {
    int column = -1;  // of what the reader gives
    Value constant;
  };
  DataFileReader(const std::vector<ScanColumn>& columns, int split, int64_t first)
      : columns_(columns), split_(split), row_(first) {}
  Status Bind(const iceberg::TableMetadata& table, const iceberg::LiveFile& data);
  // Of row lineage: what files that were rewritten say of each row.
  Source BindLineage(const ScanColumn& column, const iceberg::LiveFile& data, Schema* wanted) const;
  Result<ColumnPtr> Convert(size_t i, const Chunk& read) const;
  ColumnPtr Lineage(size_t i, const Chunk& read) const;

  const std::vector<ScanColumn>& columns_;
  int split_;
  int64_t row_;  // the next one
  std::string path_;
  std::unique_ptr<RandomAccessFile> file_;
  std::unique_ptr<ParquetReader> reader_;
  std::vector<Source> sources_;  // one a column
  iceberg::PositionSet deleted_;
};

}  // namespace caudal
