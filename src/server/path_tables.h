// Tables by path: FROM `data/in.ndjson`, FROM `out/silver`, without a CREATE TABLE.
//
// The grammar stays Flink's: a quoted name that no table has and that is a file, or a folder of files,
// becomes a bounded filesystem table. Its columns are those of the first files together: of Parquet files
// what their footers say, of NDJSON files what the records of their first megabyte hold (whole numbers are
// BIGINT, beyond it DECIMAL(20, 0), other numbers DOUBLE, all else but BOOLEAN text). Folders named key=value
// become partition columns of type STRING.
#pragma once

#include <string_view>

#include "api/catalog.h"
#include "base/status.h"
#include "fs/file_system.h"

namespace caudal {

// Declares the paths that the script quotes with backticks.
Status AddPathTables(std::string_view script, FileSystem* files, Catalog* catalog);

}  // namespace caudal
