// RedisConnection: commands to one server and its answers, pipelined: send many, then read as many.
//
// Blocks up to the target's time limits, so it is for I/O threads alone. One thread; of no use after an
// error.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "connect/redis/redis_command.h"
#include "connect/redis/redis_target.h"
#include "net/socket.h"

// The client library's own, so that its header stays in the file that calls it.
struct redisReader;
struct redisReply;

namespace caudal {

struct RedisAnswer {
  enum class Kind : uint8_t { kNull, kInteger, kText, kList, kError };
  Kind kind = Kind::kNull;
  int64_t integer = 0;
  std::string text;  // of an error too
  std::vector<RedisAnswer> list;
};

class RedisConnection {
 public:
  // Connects, logs in, chooses the database, and looks what the server is: the one server, the master that
  // the sentinels name now, or any node of the cluster (RedisNodes finds the one that has a key). User error:
  // it is not what the target says, or does not let us in. `target` outlives the connection.
  static Result<std::unique_ptr<RedisConnection>> Open(const RedisTarget* target);
  // The same with the server there, which must be "standalone", "sentinel" or "cluster"; empty: any.
  static Result<std::unique_ptr<RedisConnection>> OpenAt(const RedisTarget* target,
                                                         const SocketAddress& address, std::string_view kind);
  ~RedisConnection();
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;

  Status Send(const RedisCommand& command);
  // The next answer that is due; an answer that is an error is a value.
  Result<RedisAnswer> Receive();
  // Sends and receives; an error is a Status.
  Result<RedisAnswer> Call(const RedisCommand& command);

 private:
  RedisConnection(const RedisTarget* target, std::unique_ptr<ByteStream> stream);
  Status LogIn();
  Status CheckServer(std::string_view kind);
  Result<std::string> Info(std::string_view section, std::string_view name);
  static RedisAnswer Copy(const redisReply& reply);

  const RedisTarget* target_;
  std::unique_ptr<ByteStream> stream_;
  redisReader* reader_;
  std::string received_;
};

}  // namespace caudal
