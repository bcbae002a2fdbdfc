#include "connect/redis/redis_connector.h"

#include "connect/redis/redis_sink.h"
#include "connect/redis/redis_target.h"

namespace caudal {
namespace {

using OptionType = OptionSpec::Type;

constexpr std::string_view kOneServer = "leave it out; one server, neither sentinels nor a cluster";

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
    {"redis-mode", OptionType::kNotBuilt, "single", kOneServer},
    {"cluster-mode", OptionType::kNotBuilt, "false", kOneServer},
    {"cluster.*", OptionType::kNotBuilt, "", kOneServer},
    {"cluster-nodes", OptionType::kNotBuilt, "", kOneServer},
    {"sentinel.*", OptionType::kNotBuilt, "", kOneServer},
    {"sentinel-nodes", OptionType::kNotBuilt, "", kOneServer},
    {"master.name", OptionType::kNotBuilt, "", kOneServer},
    {"ssl", OptionType::kNotBuilt, "false", "leave it out; connections are in the clear"},
    {"ssl.*", OptionType::kNotBuilt, "", "leave it out; connections are in the clear"},
    {"tls", OptionType::kNotBuilt, "false", "leave it out; connections are in the clear"},
    {"tls.*", OptionType::kNotBuilt, "", "leave it out; connections are in the clear"},
    {"lookup.*", OptionType::kNotBuilt, "", "leave it out; lookup joins are not built yet"},
    {"sink.parallelism", OptionType::kNotBuilt, "",
     "leave it out; the tasks of a query are 'parallelism.default'"},
};

}  // namespace

std::span<const OptionSpec> RedisConnector::options() const { return kOptions; }

Result<ChangelogKinds> RedisConnector::sink_changelog(const Table& table) const {
  RETURN_IF_ERROR(CheckRedisKey(table));
  return ChangelogKinds::Upsert();
}

Result<std::unique_ptr<Sink>> RedisConnector::MakeSink(const Table& table,
                                                       const ConnectorContext& context) const {
  ASSIGN_OR_RETURN(RedisTarget target, RedisTarget::Of(table));
  return std::unique_ptr<Sink>(std::make_unique<RedisSink>(std::move(target), context));
}

}  // namespace caudal
