// CheckMetadata: whether one metadata file agrees with itself: ids, numbers of snapshots, their lineage and
// times, row ids, refs and logs.
//
// A pure function; any thread. Reads no other file.
#pragma once

#include "iceberg/maintenance/violations.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

void CheckMetadata(const TableMetadata& table, Violations* found);

}  // namespace caudal::iceberg
