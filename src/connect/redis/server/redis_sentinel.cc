#include "connect/redis/server/redis_sentinel.h"

#include <fmt/format.h>

#include "connect/redis/redis_connection.h"
#include "data/text/number_text.h"

namespace caudal {
namespace {

constexpr std::string_view kMasterHint =
    "'master.name' is the name in the sentinels' configuration: sentinel monitor <name> …";

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
  // What each has said; of several errors the one that only other options can mend, and its hint.
  std::string said;
  Status worst;
  bool unknown = false;  // to one that has answered
  for (const SocketAddress& sentinel : target.nodes) {
    Result<SocketAddress> master = Ask(login, sentinel);
    if (master.ok() && !master->host.empty()) return master;
    const std::string answer =
        master.ok() ? fmt::format("it knows no master '{}'", target.master_name) : master.status().message();
    said += fmt::format("{}sentinel {}: {}", said.empty() ? "" : "; ", sentinel.text(), answer);
    unknown = unknown || master.ok();
    if (!master.ok() && (worst.ok() || worst.domain() == Domain::kExternal)) {
      worst = std::move(master).status();
    }
  }
  if (worst.ok()) {
    return Status::User(fmt::format("no sentinel knows a master '{}'", target.master_name))
        .Hint(std::string(kMasterHint));
  }
  const std::string hint = unknown ? std::string(kMasterHint) : worst.hint();
  // One that does not answer may be the one that knows.
  const bool final = worst.domain() != Domain::kExternal;
  std::string message = fmt::format("no sentinel tells where master '{}' is: {}", target.master_name, said);
  return (final ? Status::User(std::move(message)) : Status::External(std::move(message), Retry::kBackoff))
      .Hint(hint);
}

}  // namespace caudal
