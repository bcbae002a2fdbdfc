// SinkFiles: the files of sinks by their names: which sink's, and of which epoch; and whether one may still
// be committed.
//
// Pure functions; any thread.
#pragma once

#include <string>

#include "iceberg/metadata/table_metadata.h"

namespace caudal {

// The number of 16 hexadecimal digits that a sink's files begin with: the same for ever.
std::string SinkNumber(const std::string& identity, const std::string& query, const std::string& sink);

// Whether the file of this name belongs to an epoch of a caudal sink that the history of no branch
// settles: a newer one than the newest that it tells, or of a sink that it does not know. False for names of
// others.
bool MayBeCommitted(const iceberg::TableMetadata& table, const std::string& name);

}  // namespace caudal
