// The segments of connector 'redis' (docs/formats/redis-segment.md).
//
// Free functions; any thread.
#pragma once

#include "api/segment/segment_file.h"
#include "connect/redis/redis_target.h"

namespace caudal {

inline constexpr std::string_view kRedisSegmentMagic = "CDLREDI1";

SegmentForm RedisSegmentForm(const RedisTarget& target);

}  // namespace caudal
