#include "connect/redis/redis_target.h"

#include <fmt/format.h>

#include "api/connector.h"
#include "connect/redis/redis_ledger.h"
#include "connect/redis/server/redis_servers.h"

namespace caudal {
namespace {

Status ReadLayout(const Table& table, RedisTarget* target) {
  std::vector<int> position(table.columns.size(), -1);  // of each column among the physical ones
  const Schema columns = table.physical_schema();
  int next = 0;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].kind == TableColumn::Kind::kPhysical) position[i] = next++;
  }
  std::vector<int> key;
  std::vector<std::string> key_names;
  for (const int column : table.primary_key) {
    key.push_back(position[static_cast<size_t>(column)]);
    key_names.push_back(table.columns[static_cast<size_t>(column)].name);
  }
  int64_t ttl = 0;
  if (const std::string_view text = table.option("caudal.ttl"); !text.empty()) {
    ASSIGN_OR_RETURN(ttl, ParseDurationMillis(text));
    if (ttl == 0)
      return Status::User("'caudal.ttl' is 0: no row would be seen").Hint("leave it out to keep rows");
  }
  if (table.option("caudal.key").starts_with(kRedisLedgerPrefix)) {
    return Status::User(fmt::format("'caudal.key' = '{}': keys that begin with '{}' are the sinks' ledgers",
                                    table.option("caudal.key"), kRedisLedgerPrefix))
        .Hint("let it begin with another text");
  }
  const std::string fallback = RedisKeyTemplate::DefaultFor(table.name, key_names);
  ASSIGN_OR_RETURN(target->layout,
                   RedisLayout::Of(columns, std::move(key), std::string(table.option("caudal.key", fallback)),
                                   table.option("caudal.value-format", "hash"), ttl));
  return Status();
}

Result<int64_t> ReadTimeout(const Table& table, std::string_view option, std::string_view fallback) {
  const std::string_view text = table.option(option, fallback);
  ASSIGN_OR_RETURN(const int64_t millis, ParseDurationMillis(text));
  if (millis > 0) return millis;
  return Status::User(
             fmt::format("table '{}': '{}' is '{}': nothing is as quick as that", table.name, option, text))
      .Hint(fmt::format("leave it out: it is '{}'", fallback));
}

}  // namespace

Status CheckRedisKey(const Table& table) {
  if (!table.primary_key.empty()) return Status();
  return Status::User(
             fmt::format("table '{}' of connector 'redis' has no PRIMARY KEY: it tells which key of the "
                         "server a row is written to, and lets a repeated commit change nothing",
                         table.name))
      .Hint("declare one, PRIMARY KEY (…) NOT ENFORCED");
}

Result<RedisTarget> RedisTarget::Of(const Table& table) {
  RETURN_IF_ERROR(CheckRedisKey(table));
  RedisTarget target;
  target.declared = table.name;
  Status status = ReadRedisServers(table, &target);
  if (status.ok()) status = ReadLayout(table, &target);
  if (!status.ok()) return std::move(status).At(fmt::format("table '{}'", table.name));
  ASSIGN_OR_RETURN(target.connect_millis, ReadTimeout(table, "connect.timeout", "5 s"));
  ASSIGN_OR_RETURN(target.answer_millis, ReadTimeout(table, "caudal.answer-timeout", "10 s"));
  return target;
}

std::string RedisTarget::origin() const {
  if (mode == RedisMode::kSentinel) return fmt::format("redis-sentinel:{}/{}", master_name, database);
  if (mode == RedisMode::kCluster) return "redis-cluster:";
  return address.path.empty() ? fmt::format("redis://{}/{}", address.text(), database)
                              : fmt::format("unix://{}?db={}", address.text(), database);
}

std::string RedisTarget::frame() const {
  std::vector<std::string> names;
  for (const SocketAddress& node : nodes) names.push_back(node.text());
  switch (mode) {
    case RedisMode::kSentinel:
      return fmt::format("master '{}' of the sentinels {}, database {}, sink '{}'", master_name,
                         fmt::join(names, ", "), database, declared);
    case RedisMode::kCluster:
      return fmt::format("cluster of {}, sink '{}'", fmt::join(names, ", "), declared);
    default:
      return fmt::format("server {}, database {}, sink '{}'", address.text(), database, declared);
  }
}

}  // namespace caudal
