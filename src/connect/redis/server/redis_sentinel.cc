#include "connect/redis/server/redis_sentinel.h"

#include <fmt/format.h>

#include "connect/redis/redis_connection.h"
#include "data/text/number_text.h"

namespace caudal {
namespace {

// The address, or one without a host when the sentinel knows no such master.
Result<SocketAddress> Ask(const RedisTarget& login, const SocketAddress& sentinel) {
  ASSIGN_OR_RETURN(const auto connection, RedisConnection::OpenAt(&login, sentinel, "sentinel"));
  RedisCommand command;
  command.Add("SENTINEL").Add("get-master-addr-by-name").Add(std::string_view(login.master_name));
  ASSIGN_OR_RETURN(const RedisAnswer answer, connection->Call(command));
  SocketAddress master;
  int64_t port = 0;
  if (answer.list.size() == 2 && ParseWholeInteger(answer.list[1].text, &port)) {
    master.host = answer.list[0].text;
    master.port = static_cast<int>(port);
  }
  return master;
}

}  // namespace

Result<SocketAddress> FindRedisMaster(const RedisTarget& target) {
  RedisTarget login = target;  // sentinels have users of their own, and no databases
  login.username = target.sentinel_username;
  login.password = target.sentinel_password;
  login.database = 0;
  Status failed;
  for (const SocketAddress& sentinel : target.nodes) {
    Result<SocketAddress> master = Ask(login, sentinel);
    if (master.ok() && !master->host.empty()) return master;
    // Of several errors the one that only other options can mend.
    if (!master.ok() && (failed.ok() || failed.domain() == Domain::kExternal)) {
      failed = std::move(master).status().At(fmt::format("sentinel {}", sentinel.text()));
    }
  }
  if (!failed.ok()) return failed;
  return Status::User(fmt::format("no sentinel knows a master '{}'", target.master_name))
      .Hint("'master.name' is the name in their configuration: sentinel monitor <name> …");
}

}  // namespace caudal
