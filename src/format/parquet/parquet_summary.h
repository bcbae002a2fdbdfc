// What a footer says of the columns, summed over its row groups. Lives in the Parquet module.
#pragma once

#include "data/schema.h"
#include "format/parquet_writer.h"

namespace parquet {
class FileMetaData;
}

namespace caudal {

// Fills all of `footer` but NULLs and NaNs of columns, which the footer's statistics do not tell.
void SummarizeColumns(const parquet::FileMetaData& metadata, const Schema& schema, ParquetFooter* footer);

}  // namespace caudal
