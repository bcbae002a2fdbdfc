#include "connect/redis/redis_connector.h"

#include "api/lookup_options.h"
#include "connect/redis/lookup/redis_lookup.h"
#include "connect/redis/redis_sink.h"
#include "connect/redis/redis_target.h"

namespace caudal {
namespace {

using OptionType = OptionSpec::Type;

constexpr std::string_view kOtherMode = "write 'redis-mode', with 'sentinel-nodes' or 'cluster-nodes'";
constexpr std::string_view kOtherTls = "write 'ssl' = 'true', and 'ssl.ca.location'";

// Flink has no connector for Redis of its own; those about servers are named as in its CDC connectors.
constexpr OptionSpec kOptions[] = {
    {"hostname", OptionType::kString, "", "the server's name or address"},
    {"port", OptionType::kInteger, "6379", "the server's port"},
    {"database", OptionType::kInteger, "0", "the number of the database"},
    {"url", OptionType::kString, "",
     "instead of the three: redis://user:password@host:port/database, or unix:///path?db=0"},
    {"username", OptionType::kString, "", "the user of the server's access list; empty: the default one"},
    {"password", OptionType::kString, "", "its password, as ${env:NAME}"},
    {"connect.timeout", OptionType::kDuration, "5 s", "how long a connection may take to be made"},
    {"caudal.answer-timeout", OptionType::kDuration, "10 s", "how long an answer may take"},
    {"caudal.key", OptionType::kString, "",
     "the key of a row, 'acct:{account_id}'; <table>:{column}:{column} by default"},
    {"caudal.value-format", OptionType::kString, "hash", "hash, string or json"},
    {"caudal.ttl", OptionType::kDuration, "",
     "how long a key lives after it was last written; for ever by default"},
    {"redis-mode", OptionType::kString, "single",
     "single, sentinel or cluster; what the other options say by default"},
    {"cluster-nodes", OptionType::kString, "", "some nodes of a cluster: one:6379,two:6379"},
    {"cluster-mode", OptionType::kNotBuilt, "false", kOtherMode},
    {"cluster.*", OptionType::kNotBuilt, "", kOtherMode},
    {"sentinel.*", OptionType::kNotBuilt, "", kOtherMode},
    {"sentinel-nodes", OptionType::kString, "", "the sentinels: one:26379,two:26379,three:26379"},
    {"master.name", OptionType::kString, "", "the master's name in the sentinels' configuration"},
    {"sentinel.username", OptionType::kString, "", "the user of the sentinels' own access list"},
    {"sentinel.password", OptionType::kString, "", "the sentinels' own password, as ${env:NAME}"},
    {"ssl.*", OptionType::kNotBuilt, "", kOtherTls},
    {"ssl", OptionType::kBoolean, "false", "connect under TLS"},
    {"ssl.ca.location", OptionType::kString, "",
     "PEM file of the authorities that may sign the server's certificate; the system's by default"},
    {"ssl.certificate.location", OptionType::kString, "",
     "PEM file with a certificate of ours, for servers that ask for one"},
    {"ssl.key.location", OptionType::kString, "", "PEM file with its key"},
    {"ssl.key.password", OptionType::kString, "", "the key's password, as ${env:NAME}"},
    {"ssl.endpoint.identification.algorithm", OptionType::kString, "https",
     "https, or none: whether the server's certificate must be made out for it"},
    {"caudal.ssl.server-name", OptionType::kString, "",
     "the name that certificates must show; by default the one connected to"},
    {"tls", OptionType::kNotBuilt, "false", kOtherTls},
    {"tls.*", OptionType::kNotBuilt, "", kOtherTls},
    {"caudal.wait-replicas", OptionType::kInteger, "0",
     "so many replicas must have an epoch before it counts as committed"},
    {"sink.parallelism", OptionType::kNotBuilt, "",
     "leave it out; the tasks of a query are 'parallelism.default'"},
};

}  // namespace

std::span<const OptionSpec> RedisConnector::options() const {
  static const std::vector<OptionSpec> kAll = WithLookupOptions(kOptions);
  return kAll;
}

Status RedisConnector::CheckOptions(const Table& table) const { return LookupOptions::From(table).status(); }

Result<ChangelogKinds> RedisConnector::sink_changelog(const Table& table) const {
  RETURN_IF_ERROR(CheckRedisKey(table));
  return ChangelogKinds::Upsert();
}

Result<std::unique_ptr<Sink>> RedisConnector::MakeSink(const Table& table,
                                                       const ConnectorContext& context) const {
  ASSIGN_OR_RETURN(RedisTarget target, RedisTarget::Of(table));
  return std::unique_ptr<Sink>(std::make_unique<RedisSink>(std::move(target), context));
}

Result<std::unique_ptr<LookupReader>> RedisConnector::MakeLookup(const Table& table,
                                                                 const LookupRequest& request,
                                                                 const ConnectorContext&) const {
  return RedisLookup::Make(table, request);
}

}  // namespace caudal
