// What the client library's statistics tell of the partitions that it fetches. A pure function; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "connect/kafka/client/kafka_partition_id.h"

namespace caudal {

// How long ago, in microseconds, the leader of each partition that is being fetched was last heard.
// Partitions that have no leader in reach, or are not fetched, are left out. `json`: as the library makes it;
// what is not understood is left out, too.
std::map<KafkaPartitionId, int64_t> SinceHeardMicros(std::string_view json);

}  // namespace caudal
