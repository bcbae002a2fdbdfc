// PartitionPath: the folder of a partition's files below a table's data, for people to read.
//
// A pure function; any thread. The metadata, not the path, says which partition a file has: NULL and the text
// 'null' share a folder, and nothing ever reads a value out of it.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "data/value.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

// "ts_day=2026-01-31/name=a%2Fb"; empty without partition fields. Names and values are encoded as Java's
// URLEncoder does it, so that none leaves the folder. `types` as PartitionTypes gives them.
// REQUIRES: one value a field.
std::string PartitionPath(const PartitionSpec& spec, const std::vector<Type>& types,
                          const std::vector<Value>& partition);

}  // namespace caudal::iceberg
