// LineageColumns: row lineage (format 3) as metadata columns of a declared table.
//
// Pure functions; any thread.
#pragma once

#include <vector>

#include "connect/iceberg/scan/scan_columns.h"

namespace caudal {

// Key → type.
std::vector<Field> LineageColumns();
// Where a metadata column comes from.
ScanColumn::From LineageOf(const TableColumn& column);
// Whether a table of this format has the metadata columns that are asked for: User error that names one.
Status CheckLineage(const std::vector<ScanColumn>& columns, int format_version);

}  // namespace caudal
