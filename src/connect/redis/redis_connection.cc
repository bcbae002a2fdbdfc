#include "connect/redis/redis_connection.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include "connect/redis/redis_error.h"

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

RedisConnection::RedisConnection(const RedisTarget* target, std::unique_ptr<Socket> socket)
    : target_(target), socket_(std::move(socket)), reader_(redisReaderCreate()) {}

RedisConnection::~RedisConnection() { redisReaderFree(reader_); }

Result<std::unique_ptr<RedisConnection>> RedisConnection::Open(const RedisTarget* target) {
  auto socket = Socket::Connect(target->address, Socket::In(target->connect_millis));
  if (!socket.ok()) {
    return std::move(socket).status().Hint("start the server, or mend 'hostname' and 'port' (or 'url')");
  }
  std::unique_ptr<RedisConnection> connection(new RedisConnection(target, std::move(socket).value()));
  RETURN_IF_ERROR(connection->LogIn());
  RETURN_IF_ERROR(connection->CheckServer());
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

Status RedisConnection::CheckServer() {
  RETURN_IF_ERROR(Send(RedisCommand().Add("INFO").Add("server")));
  ASSIGN_OR_RETURN(const RedisAnswer answer, Receive());
  if (answer.kind == RedisAnswer::Kind::kError) {
    Status status = RedisError(answer.text);
    // A user without the right to ask may have all others.
    return answer.text.starts_with("NOPERM") ? Status() : status;
  }
  const std::string_view mode = InfoValue(answer.text, "redis_mode");
  if (mode.empty() || mode == "standalone") return Status();
  return Status::User(fmt::format("the server runs as '{}', which is not built yet", mode))
      .Hint(mode == "sentinel" ? "name the primary that the sentinel watches"
                               : "name a server of its own, with 'cluster-enabled no'");
}

Status RedisConnection::Send(const RedisCommand& command) {
  return socket_->Send(fmt::format("*{}\r\n{}", command.count, command.arguments),
                       Socket::In(target_->answer_millis));
}

Result<RedisAnswer> RedisConnection::Receive() {
  const Socket::Deadline deadline = Socket::In(target_->answer_millis);
  for (;;) {
    void* reply = nullptr;
    if (redisReaderGetReply(reader_, &reply) != REDIS_OK) {
      return Status::User(fmt::format("what answers is no Redis server: {}", reader_->errstr))
          .Hint(
              "look at 'hostname' and 'port'; a server that wants TLS answers like this, and TLS is not "
              "built yet");
    }
    if (reply != nullptr) {
      const std::unique_ptr<void, ReplyDeleter> owned(reply);
      return Copy(*static_cast<const redisReply*>(reply));
    }
    received_.clear();
    RETURN_IF_ERROR(socket_->Receive(&received_, deadline));
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
