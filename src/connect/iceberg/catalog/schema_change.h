// What ALTER TABLE asks for, as a commit to an Iceberg table: columns keep their ids, whatever they are named
// and wherever they stand, and types only grow.
//
// A pure function; any thread.
#pragma once

#include <vector>

#include "api/external_catalog.h"
#include "base/status.h"
#include "iceberg/catalog/table_update.h"

namespace caudal {

// Whether each value of the one is a value of the other, and files need not be written again.
bool CanWiden(const iceberg::Type& from, const iceberg::Type& to);

// Asserts what it was made of. User error that names the column or property for what the format has no way to
// do without reading files anew.
Result<iceberg::TableCommit> CommitOf(const std::vector<TableChange>& changes,
                                      const iceberg::TableMetadata& table);

}  // namespace caudal
