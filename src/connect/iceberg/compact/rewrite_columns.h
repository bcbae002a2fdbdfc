// RewriteColumns: how the rows of a table are read and written when its files are written anew: every column
// of its current schema, exactly as it is, and in format 3 the lineage of each row.
//
// A value; any thread.
#pragma once

#include <vector>

#include "base/status.h"
#include "connect/iceberg/scan/scan_columns.h"
#include "data/schema.h"
#include "format/parquet_writer.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal {

struct RewriteColumns {
  std::vector<ScanColumn> read;
  Schema content;                    // the same, as the file has them
  std::vector<int32_t> ids;          // of the table's columns: lineage is behind them
  std::vector<iceberg::Type> types;  // the same
  ParquetOptions parquet;

  // User error that names a column of a type which would not stay as it is.
  static Result<RewriteColumns> Of(const iceberg::TableMetadata& table);
};

}  // namespace caudal
