// PartitionKey: a partition as bytes, to look it up by.
//
// A pure function; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/value.h"

namespace caudal::iceberg {

// Equal exactly for equal partitions of one spec; NaN is NaN.
std::string PartitionKey(int32_t spec_id, const std::vector<Value>& partition);

}  // namespace caudal::iceberg
