#include "connect/redis/server/redis_servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/boolean_option.h"

namespace caudal {
namespace {

constexpr int kDefaultPort = 6379;
constexpr int kSentinelPort = 26379;
constexpr int kLargestPort = 65535;
constexpr int kMostReplicas = 100;

struct Endpoint {
  std::string_view user, password, host, port, path, database;
  bool tls = false;
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
      .Hint("write 'redis://user:password@host:port/database' ('rediss:' for TLS) or 'unix:///path/of.sock'");
}

Result<Endpoint> SplitUrl(std::string_view url) {
  Endpoint endpoint;
  const bool local = url.starts_with("unix://");
  endpoint.tls = url.starts_with("rediss://");
  if (!local && !endpoint.tls && !url.starts_with("redis://")) {
    return NoUrl("it begins with none of 'redis://', 'rediss://' and 'unix://'");
  }
  std::string_view rest = url.substr(url.find("//") + 2);
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
  if (endpoint.tls) target->tls.emplace();
  if (!endpoint.port.empty() && !ParseNumber(endpoint.port, kLargestPort, &target->address.port)) {
    return NoUrl(fmt::format("'{}' is no port", endpoint.port));
  }
  if (!endpoint.database.empty() && !ParseNumber(endpoint.database, INT32_MAX, &target->database)) {
    return NoUrl(fmt::format("'{}' is no number of a database", endpoint.database));
  }
  return Status();
}

// "a:1,b:2" or "a;b": hosts without a port have `default_port`.
Result<std::vector<SocketAddress>> ReadNodes(const Table& table, std::string_view option, int default_port) {
  std::vector<SocketAddress> nodes;
  for (std::string_view rest = table.option(option); !rest.empty();) {
    const size_t end = std::min(rest.find_first_of(",;"), rest.size());
    std::string_view node = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (node.starts_with(' ')) node.remove_prefix(1);
    while (node.ends_with(' ')) node.remove_suffix(1);
    const size_t bracket = node.starts_with('[') ? node.find(']') : 0;
    const size_t colon = bracket == std::string_view::npos ? bracket : node.find(':', bracket);
    SocketAddress address{std::string(node.substr(0, colon)), default_port, ""};
    if (bracket > 0 && bracket != std::string_view::npos) address.host = node.substr(1, bracket - 1);
    const bool port_fits =
        colon == std::string_view::npos || ParseNumber(node.substr(colon + 1), kLargestPort, &address.port);
    if (address.host.empty() || !port_fits) {
      return Status::User(fmt::format("'{}': '{}' is no host:port", option, node))
          .Hint(fmt::format("for example '{}' = 'one:{},two:{}'", option, default_port, default_port));
    }
    nodes.push_back(std::move(address));
  }
  return nodes;
}

Status ReadSingle(const Table& table, RedisTarget* target) {
  if (!table.option("url").empty()) return ReadUrl(table, target);
  target->address.host = table.option("hostname");
  if (target->address.host.empty()) {
    return Status::User("it has neither 'hostname' nor 'url'")
        .Hint(
            "for example 'hostname' = 'localhost'; 'sentinel-nodes' or 'cluster-nodes' for more servers than "
            "one");
  }
  const std::string_view port = table.option("port", "6379");
  if (ParseNumber(port, kLargestPort, &target->address.port)) return Status();
  return Status::User(fmt::format("'port' = '{}' is no port", port));
}

Status ReadSentinels(const Table& table, RedisTarget* target) {
  ASSIGN_OR_RETURN(target->nodes, ReadNodes(table, "sentinel-nodes", kSentinelPort));
  target->master_name = table.option("master.name");
  target->sentinel_username = table.option("sentinel.username");
  target->sentinel_password = table.option("sentinel.password");
  if (target->nodes.empty()) {
    return Status::User("'redis-mode' is 'sentinel' and 'sentinel-nodes' is missing")
        .Hint("name the sentinels, 'one:26379,two:26379,three:26379'");
  }
  if (!target->master_name.empty()) return Status();
  return Status::User("it has 'sentinel-nodes' and no 'master.name'")
      .Hint("the name in the sentinels' own configuration: sentinel monitor <name> …");
}

Status ReadCluster(const Table& table, RedisTarget* target) {
  ASSIGN_OR_RETURN(target->nodes, ReadNodes(table, "cluster-nodes", kDefaultPort));
  if (target->nodes.empty()) {
    return Status::User("'redis-mode' is 'cluster' and 'cluster-nodes' is missing")
        .Hint("name some of its nodes, 'one:6379,two:6379'; they tell of the others");
  }
  if (target->database == 0) return Status();
  return Status::User("a cluster has no other database than 0").Hint("leave 'database' out");
}

Result<RedisMode> ReadMode(const Table& table) {
  const bool sentinels = !table.option("sentinel-nodes").empty();
  const bool cluster = !table.option("cluster-nodes").empty();
  const std::string_view said = table.option("redis-mode", cluster     ? "cluster"
                                                           : sentinels ? "sentinel"
                                                                       : "single");
  if (said != "single" && said != "sentinel" && said != "cluster") {
    return Status::User(fmt::format("'redis-mode' is '{}'", said))
        .Hint("it can be 'single', 'sentinel' or 'cluster'");
  }
  const RedisMode mode = said == "single"     ? RedisMode::kSingle
                         : said == "sentinel" ? RedisMode::kSentinel
                                              : RedisMode::kCluster;
  constexpr std::pair<std::string_view, RedisMode> kOnlyIn[] = {
      {"url", RedisMode::kSingle},
      {"hostname", RedisMode::kSingle},
      {"port", RedisMode::kSingle},
      {"sentinel-nodes", RedisMode::kSentinel},
      {"master.name", RedisMode::kSentinel},
      {"sentinel.username", RedisMode::kSentinel},
      {"sentinel.password", RedisMode::kSentinel},
      {"cluster-nodes", RedisMode::kCluster},
  };
  for (const auto& [option, only] : kOnlyIn) {
    if (only == mode || table.option(option).empty()) continue;
    return Status::User(fmt::format("'{}' says nothing where 'redis-mode' is '{}'", option, said))
        .Hint("leave it out, or choose another 'redis-mode'");
  }
  return mode;
}

Status CheckTls(const Table& table, const RedisTarget& target) {
  const bool by_url = target.tls.has_value(), by_option = BooleanOption(table, "ssl");
  if (by_url && !by_option && !table.option("ssl").empty()) {
    return Status::User("'url' is of 'rediss:', which is TLS, and 'ssl' is 'false'")
        .Hint("leave 'ssl' out, or write 'redis:'");
  }
  if (by_option && !target.address.path.empty()) {
    return Status::User("'ssl' is 'true' and 'url' is of a socket of this machine, which has no TLS")
        .Hint("leave 'ssl' out");
  }
  if (!table.option("ssl.key.password").empty() && table.option("ssl.certificate.location").empty()) {
    return Status::User("it has 'ssl.key.password' and no 'ssl.certificate.location'");
  }
  const std::string_view check = table.option("ssl.endpoint.identification.algorithm", "https");
  if (check == "https" || check == "none") return Status();
  return Status::User(fmt::format("'ssl.endpoint.identification.algorithm' is '{}'", check))
      .Hint("it can be 'https', to look at the name in the server's certificate, or 'none'");
}

Status ReadTls(const Table& table, RedisTarget* target) {
  RETURN_IF_ERROR(CheckTls(table, *target));
  if (BooleanOption(table, "ssl")) target->tls.emplace();
  TlsOptions options;
  options.ca_file = table.option("ssl.ca.location");
  options.certificate_file = table.option("ssl.certificate.location");
  options.key_file = table.option("ssl.key.location");
  options.key_password = table.option("ssl.key.password");
  options.server_name = table.option("caudal.ssl.server-name");
  const std::string_view check = table.option("ssl.endpoint.identification.algorithm");
  options.check_name = check != "none";
  const std::string* const texts[] = {&options.ca_file, &options.certificate_file, &options.key_file,
                                      &options.key_password, &options.server_name};
  bool said = !check.empty();
  for (const std::string* text : texts) said |= !text->empty();
  if (said && !target->tls) {
    return Status::User("it has options 'ssl.…' and connects in the clear")
        .Hint("set 'ssl' = 'true', or a 'url' of 'rediss:'");
  }
  if (options.certificate_file.empty() && !options.key_file.empty()) {
    return Status::User("it has 'ssl.key.location' and no 'ssl.certificate.location'");
  }
  if (target->tls) target->tls = std::move(options);
  return Status();
}

}  // namespace

Status ReadRedisServers(const Table& table, RedisTarget* target) {
  ASSIGN_OR_RETURN(target->mode, ReadMode(table));
  target->username = table.option("username");
  target->password = table.option("password");
  const std::string_view database = table.option("database", "0");
  if (!ParseNumber(database, INT32_MAX, &target->database)) {
    return Status::User(fmt::format("'database' = '{}' is no number of a database", database));
  }
  RETURN_IF_ERROR(target->mode == RedisMode::kSentinel  ? ReadSentinels(table, target)
                  : target->mode == RedisMode::kCluster ? ReadCluster(table, target)
                                                        : ReadSingle(table, target));
  RETURN_IF_ERROR(ReadTls(table, target));
  const std::string_view replicas = table.option("caudal.wait-replicas", "0");
  if (!ParseNumber(replicas, kMostReplicas, &target->wait_replicas)) {
    return Status::User(fmt::format("'caudal.wait-replicas' = '{}' is no number of replicas", replicas));
  }
  if (!target->username.empty() && target->password.empty()) {
    return Status::User("it has a user and no password").Hint("set 'password', as ${env:NAME}");
  }
  return Status();
}

}  // namespace caudal
