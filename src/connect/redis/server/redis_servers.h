// Which server or servers a table's options name, and how they are connected to.
//
// A free function; any thread. It asks no server.
#pragma once

#include "api/table.h"
#include "base/status.h"
#include "connect/redis/redis_target.h"

namespace caudal {

// Everything in `target` but its layout, its name and its time limits. User error: options that contradict
// each other or say too little; passwords and urls are never quoted.
Status ReadRedisServers(const Table& table, RedisTarget* target);

}  // namespace caudal
