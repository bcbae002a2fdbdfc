// What sentinels say: where the master is now.
//
// A free function; blocks up to the target's time limits for each sentinel, so it is for I/O threads alone.
#pragma once

#include "base/status.h"
#include "connect/redis/redis_target.h"

namespace caudal {

// Asks one sentinel after another. User error: none knows the master's name, or they do not let us in;
// External: none answers. REQUIRES: target.mode == kSentinel.
Result<SocketAddress> FindRedisMaster(const RedisTarget& target);

}  // namespace caudal
