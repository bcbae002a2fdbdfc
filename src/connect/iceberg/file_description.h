// DescribeColumns: what a manifest says of a Parquet file, out of what its footer says.
//
// A pure function; any thread.
#pragma once

#include <vector>

#include "format/parquet_writer.h"
#include "iceberg/manifest/manifest.h"
#include "iceberg/metadata/schema.h"

namespace caudal {

// Rows, row groups and columns; without the file's name, size and partition. `ids` and `types`: of the file's
// first columns, in order; what it has behind them no manifest tells of.
iceberg::DataFile DescribeColumns(const std::vector<int32_t>& ids, const std::vector<iceberg::Type>& types,
                                  const ParquetFooter& footer);

}  // namespace caudal
