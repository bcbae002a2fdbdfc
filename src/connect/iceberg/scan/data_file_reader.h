// DataFileReader: the rows of one data file as the table has them now: columns by field id, whatever they are
// named there, and deleted rows left out.
//
// One thread; blocks. What it refers to outlives it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "connect/iceberg/scan/scan_columns.h"
#include "format/parquet_reader.h"
#include "fs/file_system.h"
#include "iceberg/deletes/position_set.h"
#include "iceberg/metadata/table_metadata.h"
#include "iceberg/scan/scan_plan.h"
#include "iceberg/scan/snapshot_changes.h"

namespace caudal {

// Rows of a file, others among them that the chunk's selection leaves out.
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

  // Of the rows that a snapshot changed; row groups that have none of them are passed over. `rows` need not
  // outlive it.
  static Result<std::unique_ptr<DataFileReader>> OpenChanged(FileSystem* files,
                                                             const iceberg::TableMetadata& table,
                                                             const iceberg::ChangedRows& rows,
                                                             const std::vector<ScanColumn>& columns,
                                                             int split, int64_t first);

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
  static Result<std::unique_ptr<DataFileReader>> OpenFile(FileSystem* files, const iceberg::LiveFile& data,
                                                          const std::vector<ScanColumn>& columns, int split,
                                                          int64_t first);
  Status Bind(const iceberg::TableMetadata& table, const iceberg::LiveFile& data);
  // To the next row group that has a row of `only_`. False: there is none.
  Result<bool> PassOver();
  SelectionPtr Wanted(int32_t rows) const;
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
  Schema wanted_;                // of the file
  std::vector<Source> sources_;  // one a column
  iceberg::PositionSet deleted_;
  std::optional<std::vector<int64_t>> only_;  // these rows alone, ascending
};

}  // namespace caudal
