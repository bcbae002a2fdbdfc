// RedisTarget: which server a table of connector 'redis' stands for, and how its rows lie there.
//
// Plain data, from the WITH clause; nothing here needs a server. Messages never show a password.
#pragma once

#include <string>

#include "api/table.h"
#include "base/status.h"
#include "connect/redis/redis_layout.h"
#include "net/socket.h"

namespace caudal {

struct RedisTarget {
  SocketAddress address;
  int database = 0;
  std::string username, password;  // empty = none
  int64_t connect_millis = 0;
  int64_t answer_millis = 0;
  std::string declared;  // the table's name in the script
  RedisLayout layout;

  // User error: no primary key, an url that is none, a layout that is none.
  static Result<RedisTarget> Of(const Table& table);

  // "redis://localhost:6379/0"
  std::string origin() const;
  // For errors: "server localhost:6379, database 0, sink 'features'".
  std::string frame() const;
};

// User error, with the reason, unless the table has a primary key.
Status CheckRedisKey(const Table& table);

}  // namespace caudal
