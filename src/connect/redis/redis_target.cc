#include "connect/redis/redis_target.h"

#include <fmt/format.h>

#include <charconv>

#include "api/connector.h"

namespace caudal {
namespace {

constexpr int kDefaultPort = 6379;

struct Endpoint {
  std::string_view user, password, host, port, path, database;
};

bool ParseNumber(std::string_view text, int most, int* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && *number >= 0 && *number <= most;
}

// "%40" is '@', as in every url.
Result<std::string> Unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    int code = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2) {
      return Status::User("'url' has a '%' that is none of a %40-like escape");
    }
    plain += static_cast<char>(code);
    i += 2;
  }
  return plain;
}

// The url is not quoted in messages: it may hold a password.
Status NoUrl(std::string_view why) {
  return Status::User(fmt::format("'url': {}", why))
      .Hint("write 'redis://user:password@host:port/database' or 'unix:///path/of.sock'");
}

Result<Endpoint> SplitUrl(std::string_view url) {
  if (url.starts_with("rediss:")) {
    return Status::User("'url': TLS ('rediss:') is not built yet")
        .Hint("take 'redis:', over a network that is safe or through a tunnel");
  }
  Endpoint endpoint;
  const bool local = url.starts_with("unix://");
  if (!local && !url.starts_with("redis://")) return NoUrl("it begins with neither 'redis://' nor 'unix://'");
  std::string_view rest = url.substr(local ? 7 : 8);
  if (const size_t question = rest.find('?'); question != std::string_view::npos) {
    const std::string_view parameters = rest.substr(question + 1);
    if (!parameters.starts_with("db=")) return NoUrl("its only parameter can be 'db'");
    endpoint.database = parameters.substr(3);
    rest = rest.substr(0, question);
  }
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view who = rest.substr(0, at);
    const size_t colon = who.find(':');
    endpoint.user = who.substr(0, colon);
    if (colon != std::string_view::npos) endpoint.password = who.substr(colon + 1);
    rest.remove_prefix(at + 1);
  }
  if (local) {
    endpoint.path = rest;
    if (!rest.starts_with('/')) return NoUrl("the path of the socket is missing");
    return endpoint;
  }
  if (const size_t slash = rest.find('/'); slash != std::string_view::npos) {
    if (slash + 1 < rest.size()) endpoint.database = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
  }
  const size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
  if (bracket == std::string_view::npos) return NoUrl("a '[' without its ']'");
  const size_t colon = rest.find(':', bracket);
  endpoint.host = bracket > 0 ? rest.substr(1, bracket - 1) : rest.substr(0, colon);
  if (colon != std::string_view::npos) endpoint.port = rest.substr(colon + 1);
  if (endpoint.host.empty()) return NoUrl("the host is missing");
  return endpoint;
}

Status ReadUrl(const Table& table, RedisTarget* target) {
  for (const std::string_view other : {"hostname", "port", "database", "username", "password"}) {
    if (!table.option(other).empty()) {
      return Status::User(fmt::format("it has both 'url' and '{}'", other)).Hint("say it in one place");
    }
  }
  ASSIGN_OR_RETURN(const Endpoint endpoint, SplitUrl(table.option("url")));
  ASSIGN_OR_RETURN(target->username, Unescaped(endpoint.user));
  ASSIGN_OR_RETURN(target->password, Unescaped(endpoint.password));
  target->address = {std::string(endpoint.host), kDefaultPort, std::string(endpoint.path)};
  if (!endpoint.port.empty() && !ParseNumber(endpoint.port, 65535, &target->address.port)) {
    return NoUrl(fmt::format("'{}' is no port", endpoint.port));
  }
  if (!endpoint.database.empty() && !ParseNumber(endpoint.database, INT32_MAX, &target->database)) {
    return NoUrl(fmt::format("'{}' is no number of a database", endpoint.database));
  }
  return Status();
}

Status ReadServer(const Table& table, RedisTarget* target) {
  if (!table.option("url").empty()) {
    RETURN_IF_ERROR(ReadUrl(table, target));
  } else {
    target->address.host = table.option("hostname");
    target->username = table.option("username");
    target->password = table.option("password");
    if (target->address.host.empty()) {
      return Status::User("it has neither 'hostname' nor 'url'").Hint("for example 'hostname' = 'localhost'");
    }
    const std::string_view port = table.option("port", "6379"), database = table.option("database", "0");
    if (!ParseNumber(port, 65535, &target->address.port)) {
      return Status::User(fmt::format("'port' = '{}' is no port", port));
    }
    if (!ParseNumber(database, INT32_MAX, &target->database)) {
      return Status::User(fmt::format("'database' = '{}' is no number of a database", database));
    }
  }
  if (!target->username.empty() && target->password.empty()) {
    return Status::User("it has a user and no password").Hint("set 'password', as ${env:NAME}");
  }
  return Status();
}

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
  const std::string fallback = RedisKeyTemplate::DefaultFor(table.name, key_names);
  ASSIGN_OR_RETURN(target->layout,
                   RedisLayout::Of(columns, std::move(key), std::string(table.option("caudal.key", fallback)),
                                   table.option("caudal.value-format", "hash"), ttl));
  return Status();
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
  Status status = ReadServer(table, &target);
  if (status.ok()) status = ReadLayout(table, &target);
  if (!status.ok()) return std::move(status).At(fmt::format("table '{}'", table.name));
  ASSIGN_OR_RETURN(target.connect_millis, ParseDurationMillis(table.option("connect.timeout", "5 s")));
  ASSIGN_OR_RETURN(target.answer_millis, ParseDurationMillis(table.option("caudal.answer-timeout", "10 s")));
  return target;
}

std::string RedisTarget::origin() const {
  return address.path.empty() ? fmt::format("redis://{}/{}", address.text(), database)
                              : fmt::format("unix://{}?db={}", address.text(), database);
}

std::string RedisTarget::frame() const {
  return fmt::format("server {}, database {}, sink '{}'", address.text(), database, declared);
}

}  // namespace caudal
