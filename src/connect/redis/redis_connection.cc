#include "connect/redis/redis_connection.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include "connect/redis/redis_error.h"
#include "connect/redis/server/redis_sentinel.h"

namespace caudal {
namespace {

struct ReplyDeleter {
  void operator()(void* reply) const { freeReplyObject(reply); }
};

// The value of a line "name:value" of what INFO answers.
std::string_view InfoValue(std::string_view info, std::string_view name) {
  const std::string line = "\n" + std::string(name) + ":";
  size_t at = info.find(line);
  if (at == std::string_view::npos) return {};
  at += line.size();
  return info.substr(at, info.find_first_of("\r\n", at) - at);
}

// A server may quote what it does not understand.
std::string WithoutPassword(std::string text, const std::string& password) {
  if (password.empty()) return text;
  for (size_t at; (at = text.find(password)) != std::string::npos;) text.replace(at, password.size(), "…");
  return text;
}

}  // namespace

RedisConnection::RedisConnection(const RedisTarget* target, std::unique_ptr<ByteStream> stream)
    : target_(target), stream_(std::move(stream)), reader_(redisReaderCreate()) {}

RedisConnection::~RedisConnection() { redisReaderFree(reader_); }

Result<std::unique_ptr<RedisConnection>> RedisConnection::Open(const RedisTarget* target) {
  switch (target->mode) {
    case RedisMode::kSentinel: {
      ASSIGN_OR_RETURN(const SocketAddress master, FindRedisMaster(*target));
      auto connection = OpenAt(target, master, "standalone");
      if (connection.ok()) return connection;
      return std::move(connection).status().At("the master that the sentinels name");
    }
    case RedisMode::kCluster: {
      Status failed;
      for (const SocketAddress& node : target->nodes) {
        auto connection = OpenAt(target, node, "cluster");
        if (connection.ok()) return connection;
        if (failed.ok() || failed.domain() == Domain::kExternal) failed = std::move(connection).status();
      }
      return failed;
    }
    default:
      return OpenAt(target, target->address, "standalone");
  }
}

Result<std::unique_ptr<RedisConnection>> RedisConnection::OpenAt(const RedisTarget* target,
                                                                 const SocketAddress& address,
                                                                 std::string_view kind) {
  const ByteStream::Deadline deadline = ByteStream::In(target->connect_millis);
  auto socket = Socket::Connect(address, deadline);
  if (!socket.ok()) {
    return std::move(socket).status().Hint(target->mode == RedisMode::kSingle
                                               ? "start the server, or mend 'hostname' and 'port' (or 'url')"
                                               : "start the server, or mend the list of nodes");
  }
  std::unique_ptr<ByteStream> stream = std::move(socket).value();
  if (target->tls && address.path.empty()) {
    auto tls = TlsStream::Connect(*target->tls, std::move(stream), address.host, address.text(), deadline);
    // A server in the clear waits for the end of the line.
    if (!tls.ok()) return std::move(tls).status().Hint("look whether that port has TLS; it is tried again");
    stream = std::move(tls).value();
  }
  std::unique_ptr<RedisConnection> connection(new RedisConnection(target, std::move(stream)));
  RETURN_IF_ERROR(connection->LogIn());
  RETURN_IF_ERROR(connection->CheckServer(kind));
  return connection;
}

Status RedisConnection::LogIn() {
  if (!target_->password.empty()) {
    RedisCommand command;
    command.Add("AUTH");
    if (!target_->username.empty()) command.Add(std::string_view(target_->username));
    RETURN_IF_ERROR(Send(command.Add(std::string_view(target_->password))));
    ASSIGN_OR_RETURN(const RedisAnswer answer, Receive());
    if (answer.kind == RedisAnswer::Kind::kError) {
      return RedisError(WithoutPassword(answer.text, target_->password));
    }
  }
  if (target_->database == 0) return Status();
  return Call(RedisCommand().Add("SELECT").Add(int64_t{target_->database})).status();
}

Status RedisConnection::CheckServer(std::string_view kind) {
  if (kind.empty()) return Status();
  ASSIGN_OR_RETURN(const std::string mode, Info("server", "redis_mode"));
  if (!mode.empty() && mode != kind) {
    return Status::User(fmt::format("the server runs as '{}', and the table wants '{}' there", mode, kind))
        .Hint(mode == "sentinel"  ? "name it in 'sentinel-nodes', with the 'master.name' that it watches"
              : mode == "cluster" ? "name it in 'cluster-nodes'"
                                  : "it is a server of its own: name it by 'hostname' and 'port'");
  }
  if (kind == "sentinel") return Status();
  // A replica may be behind: what it has not heard of would look lost. A master that was demoted may not know
  // yet that it was, nor may a sentinel that was cut off.
  ASSIGN_OR_RETURN(const std::string role, Info("replication", "role"));
  if (role.empty() || role == "master") return Status();
  return Status::External("the server is a replica, and no master yet", Retry::kBackoff)
      .Hint("a failover is on its way, or the table names a replica; it is tried again");
}

// Empty when the user may not ask, who may have all other rights.
Result<std::string> RedisConnection::Info(std::string_view section, std::string_view name) {
  RETURN_IF_ERROR(Send(RedisCommand().Add("INFO").Add(section)));
  ASSIGN_OR_RETURN(const RedisAnswer answer, Receive());
  if (answer.kind != RedisAnswer::Kind::kError) return std::string(InfoValue(answer.text, name));
  if (answer.text.starts_with("NOPERM")) return std::string();
  return RedisError(answer.text);
}

Status RedisConnection::Send(const RedisCommand& command) {
  return stream_->Send(fmt::format("*{}\r\n{}", command.count, command.arguments),
                       ByteStream::In(target_->answer_millis));
}

Result<RedisAnswer> RedisConnection::Receive() {
  const ByteStream::Deadline deadline = ByteStream::In(target_->answer_millis);
  for (;;) {
    void* reply = nullptr;
    if (redisReaderGetReply(reader_, &reply) != REDIS_OK) {
      const std::string what = fmt::format("what answers is no Redis server: {}", reader_->errstr);
      // A proxy's own words in an outage.
      if (target_->met)
        return Status::External(what, Retry::kBackoff).Hint("it was one before; it is tried again");
      return Status::User(what).Hint(
          "look at 'hostname' and 'port'; a server that wants TLS answers like this: set 'ssl' = 'true'");
    }
    if (reply != nullptr) {
      const std::unique_ptr<void, ReplyDeleter> owned(reply);
      return Copy(*static_cast<const redisReply*>(reply));
    }
    received_.clear();
    RETURN_IF_ERROR(stream_->Receive(&received_, deadline));
    // Its own error is kept, and told by the next redisReaderGetReply.
    static_cast<void>(redisReaderFeed(reader_, received_.data(), received_.size()));
  }
}

Result<RedisAnswer> RedisConnection::Call(const RedisCommand& command) {
  RETURN_IF_ERROR(Send(command));
  ASSIGN_OR_RETURN(RedisAnswer answer, Receive());
  if (answer.kind == RedisAnswer::Kind::kError) return RedisError(answer.text);
  return answer;
}

RedisAnswer RedisConnection::Copy(const redisReply& reply) {
  RedisAnswer answer;
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      answer.kind = RedisAnswer::Kind::kInteger;
      answer.integer = reply.integer;
      break;
    case REDIS_REPLY_ARRAY:
      answer.kind = RedisAnswer::Kind::kList;
      for (size_t i = 0; i < reply.elements; ++i) answer.list.push_back(Copy(*reply.element[i]));
      break;
    case REDIS_REPLY_NIL:
      break;
    default:
      answer.kind = reply.type == REDIS_REPLY_ERROR ? RedisAnswer::Kind::kError : RedisAnswer::Kind::kText;
      answer.text.assign(reply.str, reply.len);
  }
  return answer;
}

}  // namespace caudal
