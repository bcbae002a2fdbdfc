// What a declared table and a table of the catalog have to do with each other: the one made of the other, or
// compared with it, by names and types.
//
// Pure functions; any thread.
#pragma once

#include <vector>

#include "api/table.h"
#include "base/status.h"
#include "connect/iceberg/iceberg_options.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal {

// The columns that rows bring to the sink, in their order. User error for what cannot be stored.
Result<Schema> StoredColumns(const Table& table);

// The table as CREATE TABLE declares it, for a catalog that has none: PARTITIONED BY and then
// 'caudal.partition-by' say how it is partitioned.
Result<iceberg::NewTable> NewIcebergTable(const Table& table, const IcebergOptions& options);

// The ids of the stored columns in the table's current schema. User error if rows of these columns do not
// fit: a column that is missing, of another case or type, or required and not declared; a format, a partition
// spec or a transform that is not written; options that say something else than the table.
Result<std::vector<int32_t>> MatchColumns(const Table& declared, const IcebergOptions& options,
                                          const iceberg::TableMetadata& table);

}  // namespace caudal
