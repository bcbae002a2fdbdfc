#include "connect/kafka/sink/kafka_sink_options.h"

#include <fmt/format.h>

#include <map>

#include "api/boolean_option.h"
#include "api/connector.h"

namespace caudal {
namespace {

Status WrongSink(const Table& table, std::string text) {
  return Status::User(fmt::format("table '{}': {}", table.name, text));
}

Result<KafkaPartitioner> ParsePartitioner(const Table& table) {
  const std::string_view name = table.option("sink.partitioner", "default");
  if (name == "default") return KafkaPartitioner::kDefault;
  if (name == "fixed") return KafkaPartitioner::kFixed;
  if (name == "round-robin") return KafkaPartitioner::kRoundRobin;
  return WrongSink(table, fmt::format("'sink.partitioner' is '{}'", name))
      .Hint("it can be 'default', 'fixed' or 'round-robin'; there are no partitioner classes here");
}

Result<bool> ParseGuarantee(const Table& table) {
  const std::string_view name = table.option("sink.delivery-guarantee", "exactly-once");
  if (name == "exactly-once") return true;
  if (name == "at-least-once") return false;
  return WrongSink(table, fmt::format("'sink.delivery-guarantee' is '{}'", name))
      .Hint("it can be 'exactly-once' or 'at-least-once'");
}

// What exactly once needs, and at least once too.
Status CheckSafety(const Table& table, const std::map<std::string, std::string>& properties) {
  for (const auto& [name, value] : properties) {
    const bool acks = name == "acks" || name == "request.required.acks";
    if (acks && value != "all" && value != "-1") {
      return WrongSink(table, fmt::format("'properties.{}' is '{}'", name, value))
          .Hint("a row counts as written when all replicas in sync have it: leave it out, it is 'all'");
    }
    if (name == "enable.idempotence" && value != "true") {
      return WrongSink(table, fmt::format("'properties.{}' is '{}'", name, value))
          .Hint("without it the client repeats and reorders records: leave it out, it is 'true'");
    }
  }
  return Status();
}

}  // namespace

Result<KafkaSinkOptions> KafkaSinkOptions::From(const Table& table, bool upsert) {
  KafkaSinkOptions options;
  options.declared = table.name;
  options.upsert = upsert;
  if (upsert && table.primary_key.empty()) {
    return WrongSink(table, "connector 'upsert-kafka' needs a primary key, which is the records' key")
        .Hint("declare PRIMARY KEY (…) NOT ENFORCED, or append with connector 'kafka'");
  }
  ASSIGN_OR_RETURN(options.table, KafkaTableOptions::ForSink(table, upsert));
  if (options.table.topics.size() != 1) {
    return WrongSink(table, "rows are written to one topic: 'topic' must name exactly one");
  }
  options.topic = options.table.topics[0];
  if (options.table.properties.contains("transactional.id")) {
    return WrongSink(table, "'properties.transactional.id' would be shared by all that write the table")
        .Hint("set 'sink.transactional-id-prefix'");
  }
  RETURN_IF_ERROR(CheckSafety(table, options.table.properties));
  ASSIGN_OR_RETURN(options.partitioner, ParsePartitioner(table));
  ASSIGN_OR_RETURN(options.exactly_once, ParseGuarantee(table));
  options.transactional_id_prefix = table.option("sink.transactional-id-prefix", "caudal");
  options.ledger_topic = table.option("caudal.ledger-topic", "__caudal_ledger");
  if (options.ledger_topic == options.topic) {
    return WrongSink(table,
                     fmt::format("'caudal.ledger-topic' is the table's own topic, '{}'", options.topic))
        .Hint("the ledger is a topic of its own: leave the option out, or name another one");
  }
  options.create_topic = BooleanOption(table, "caudal.create-topic");
  ASSIGN_OR_RETURN(options.max_record_bytes, ParseBytes(table.option("caudal.max-record-bytes", "1000000")));
  return options;
}

std::string KafkaSinkOptions::frame() const {
  const auto servers = table.properties.find("bootstrap.servers");
  return fmt::format("topic '{}' at {}, sink '{}'", topic,
                     servers == table.properties.end() ? std::string("?") : servers->second, declared);
}

}  // namespace caudal
