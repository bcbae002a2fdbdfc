// RedisTarget: which server, or servers, a table of connector 'redis' stands for, and how its rows lie there.
//
// Plain data, from the WITH clause; nothing here needs a server. Messages never show a password.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/table.h"
#include "base/status.h"
#include "connect/redis/redis_layout.h"
#include "net/socket.h"
#include "net/tls_stream.h"

namespace caudal {

enum class RedisMode : uint8_t {
  kSingle,    // one server, at `address`
  kSentinel,  // the master that the sentinels at `nodes` name
  kCluster,   // all that the cluster's `nodes` tell of
};

struct RedisTarget {
  RedisMode mode = RedisMode::kSingle;
  SocketAddress address;
  std::vector<SocketAddress> nodes;
  std::string master_name;
  std::string sentinel_username, sentinel_password;  // empty = none
  std::optional<TlsOptions> tls;                     // of servers and sentinels, but not on Unix sockets
  int database = 0;
  std::string username, password;  // empty = none
  int64_t connect_millis = 0;
  int64_t answer_millis = 0;
  int wait_replicas = 0;  // that must have an epoch before it counts as committed
  bool met = false;       // it has been connected to: what then answers with other words is an outage
  std::string declared;   // the table's name in the script
  RedisLayout layout;

  // User error: no primary key, an url that is none, a layout that is none.
  static Result<RedisTarget> Of(const Table& table);

  // "redis://localhost:6379/0", whichever of its nodes or sentinels are named
  std::string origin() const;
  // For errors: "server localhost:6379, database 0, sink 'features'".
  std::string frame() const;
};

// User error, with the reason, unless the table has a primary key.
Status CheckRedisKey(const Table& table);

}  // namespace caudal
