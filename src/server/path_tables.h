// Tables by path: FROM `data/in.ndjson`, FROM `out/silver`, without a CREATE TABLE.
//
// The grammar stays Flink's: a quoted name that no table has and that is a file, or a folder of files,
// becomes a bounded filesystem table. Its columns are those of the first files together: of Parquet files
// what their footers say, of NDJSON files what the records of their first megabyte hold (whole numbers are
// BIGINT, beyond it DECIMAL(20, 0), other numbers DOUBLE, all else but BOOLEAN text). Folders named key=value
// become partition columns of type STRING.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/catalog.h"
#include "base/status.h"
#include "fs/file_system.h"

namespace caudal {

// A column that is text because its records do not agree.
struct MixedColumn {
  std::string name;
  std::string why;  // "line 3 of 'in/a.ndjson' holds "abc" and line 1 holds 2.5"
};

// Declares the paths that the script quotes with backticks. `mixed`, unless null: gets such columns.
Status AddPathTables(std::string_view script, FileSystem* files, Catalog* catalog,
                     std::vector<MixedColumn>* mixed = nullptr);

// An error about a type that such a column does not have gets the hint that says where the type comes from.
Status ExplainTypes(Status status, const std::vector<MixedColumn>& mixed);

}  // namespace caudal
