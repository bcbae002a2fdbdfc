// KeepsRows: whether an index of one snapshot may be brought to a later one by the files that are new there.
//
// A pure function; any thread.
#pragma once

#include <cstdint>

#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

// Whether every snapshot from `head` back to `from` (0: the empty table), without it, only added files, or
// put files in the place of others with the same rows. Each row whose file is gone then has its key in a file
// that is new, so that entries of new files hide what is no longer so.
bool KeepsRows(const TableMetadata& table, const Snapshot& head, int64_t from);

}  // namespace caudal::iceberg
