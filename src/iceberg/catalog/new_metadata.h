// The metadata that a catalog without a server writes: of a table that is made, and after a commit.
//
// Pure functions but for the uuid; any thread.
#pragma once

#include <string>

#include "base/status.h"
#include "iceberg/catalog/catalog.h"
#include "iceberg/catalog/table_files.h"

namespace caudal::iceberg {

// `location`: where the table goes unless the definition says so. User error for a partition spec that its
// columns do not fit.
Result<TableMetadata> FirstMetadata(const NewTable& created, const std::string& location,
                                    const TableFiles& files);
// After the commit, with the file before it in its log. As CheckRequirements and ApplyUpdates.
Result<TableMetadata> NextMetadata(const LoadedTable& base, const TableCommit& commit, int64_t now_ms);

// Behind a commit: removes the metadata files that fell out of the log with it, if the table has
// `write.metadata.delete-after-commit.enabled`. What cannot be removed stays as an orphan. Not for catalogs
// in which a version is committed by making its file: who was held up would make one that is gone once more.
void RemoveForgotten(const TableFiles& files, const TableMetadata& before, const TableMetadata& after);

}  // namespace caudal::iceberg
