#include "connect/kafka/sink/upsert_kafka_connector.h"

#include "connect/kafka/kafka_columns.h"
#include "connect/kafka/kafka_options.h"
#include "connect/kafka/sink/kafka_sink.h"

namespace caudal {
namespace {

using Kind = OptionSpec::Type;

constexpr OptionSpec kUpsertOptions[] = {
    {"topic", Kind::kString, "", "the name of the topic", true},
    {"properties.bootstrap.servers", Kind::kString, "", "host:port of brokers, separated by ','", true},
    {"properties.*", Kind::kString, "", "any property of librdkafka"},
    {"key.format", Kind::kString, "", "of the key: 'json' or 'raw'", true},
    {"key.fields-prefix", Kind::kString, "", "of the columns' names, not of the names in the key"},
    {"value.format", Kind::kString, "", "of the value: 'json' or 'raw'", true},
    {"value.fields-include", Kind::kString, "ALL", "'EXCEPT_KEY': the key's columns are not in the value"},
    {"key.json.*", Kind::kString, "", "docs/formats/json.md"},
    {"value.json.*", Kind::kString, "", "the same, for the value"},
    {"sink.delivery-guarantee", Kind::kString, "exactly-once", "or 'at-least-once'"},
    {"sink.transactional-id-prefix", Kind::kString, "caudal", "what the ids of its transactions begin with"},
    {"sink.partitioner", Kind::kNotBuilt, "default", "a key must stay in one partition"},
    {"sink.parallelism", Kind::kNotBuilt, "", "leave it out; the tasks of a query are 'parallelism.default'"},
    {"sink.buffer-flush.max-rows", Kind::kInteger, "0", "no effect: a key is written once an epoch"},
    {"sink.buffer-flush.interval", Kind::kDuration, "0 s", "no effect: a key is written once an epoch"},
    {"caudal.ledger-topic", Kind::kString, "__caudal_ledger",
     "a compacted topic of one partition that tells which epochs are committed; made if it is not there"},
    {"caudal.create-topic", Kind::kBoolean, "false",
     "make the topic if it is not there, with the broker's own numbers of partitions and replicas"},
    {"caudal.max-record-bytes", Kind::kBytes, "1000000",
     "rows whose record is larger are rejected, and those that the topic does not take"},
};

}  // namespace

std::span<const OptionSpec> UpsertKafkaConnector::options() const { return kUpsertOptions; }

Status UpsertKafkaConnector::CheckOptions(const Table& table) const { return CheckKafkaFormats(table); }

std::vector<Field> UpsertKafkaConnector::metadata() const { return KafkaColumns::Metadata(); }

Result<std::unique_ptr<Sink>> UpsertKafkaConnector::MakeSink(const Table& table,
                                                             const ConnectorContext& context) const {
  return KafkaSink::Make(table, /*upsert=*/true, context);
}

}  // namespace caudal
