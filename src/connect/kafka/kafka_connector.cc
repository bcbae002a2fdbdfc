#include "connect/kafka/kafka_connector.h"

#include "connect/kafka/kafka_options.h"
#include "connect/kafka/kafka_source.h"
#include "connect/kafka/sink/kafka_sink.h"

namespace caudal {
namespace {

using Kind = OptionSpec::Type;

constexpr OptionSpec kOptions[] = {
    {"topic", Kind::kString, "", "names of topics, separated by ';'"},
    {"topic-pattern", Kind::kString, "",
     "a regular expression for whole names of topics, instead of 'topic'"},
    {"caudal.topics-left-out", Kind::kString, "",
     "names, separated by ';', that are not read though 'topic-pattern' fits; the query's own dead letters, "
     "their notes and its ledgers never are"},
    {"properties.bootstrap.servers", Kind::kString, "", "host:port of brokers, separated by ','", true},
    {"properties.group.id", Kind::kString, "",
     "the group whose offsets mode 'group-offsets' starts at, and that is told the committed ones"},
    {"properties.*", Kind::kString, "", "any property of librdkafka"},
    {"format", Kind::kString, "", "of the value: 'json' or 'raw'"},
    {"value.format", Kind::kString, "", "another name of 'format'"},
    {"key.format", Kind::kString, "", "of the key: 'json' or 'raw'"},
    {"key.fields", Kind::kString, "", "columns in the key, separated by ';'"},
    {"key.fields-prefix", Kind::kString, "", "of the columns' names, not of the names in the key"},
    {"value.fields-include", Kind::kString, "ALL", "'EXCEPT_KEY': the key's columns are not in the value"},
    {"json.*", Kind::kString, "", "docs/formats/json.md"},
    {"value.json.*", Kind::kString, "", "the same, with 'value.format'"},
    {"key.json.*", Kind::kString, "", "the same, for the key"},
    {"scan.startup.mode", Kind::kString, "group-offsets",
     "where a first start begins: earliest-offset, latest-offset, group-offsets, timestamp, "
     "specific-offsets"},
    {"scan.startup.timestamp-millis", Kind::kInteger, "", "of mode 'timestamp'"},
    {"scan.startup.specific-offsets", Kind::kString, "",
     "of mode 'specific-offsets': 'partition:0,offset:42;partition:1,offset:300'"},
    {"scan.bounded.mode", Kind::kString, "unbounded",
     "where reading ends: unbounded, latest-offset, group-offsets, timestamp, specific-offsets"},
    {"scan.bounded.timestamp-millis", Kind::kInteger, "", "of mode 'timestamp'"},
    {"scan.bounded.specific-offsets", Kind::kString, "", "of mode 'specific-offsets'"},
    {"scan.topic-partition-discovery.interval", Kind::kDuration, "5 min",
     "new partitions are looked for every 10 s, whatever the interval; 0 = never"},
    {"caudal.accept-initial-skip", Kind::kBoolean, "false",
     "a first start may pass over what is there (mode 'latest-offset')"},
    {"sink.partitioner", Kind::kString, "default",
     "'default': by the hash of the key; 'fixed': one partition a task; 'round-robin'"},
    {"sink.delivery-guarantee", Kind::kString, "exactly-once", "or 'at-least-once'"},
    {"sink.transactional-id-prefix", Kind::kString, "caudal", "what the ids of its transactions begin with"},
    {"sink.parallelism", Kind::kNotBuilt, "", "leave it out; the tasks of a query are 'parallelism.default'"},
    {"caudal.ledger-topic", Kind::kString, "__caudal_ledger",
     "a compacted topic of one partition that tells which epochs are committed; made if it is not there"},
    {"caudal.create-topic", Kind::kBoolean, "false",
     "make the topic if it is not there, with the broker's own numbers of partitions and replicas"},
    {"caudal.max-record-bytes", Kind::kBytes, "1000000",
     "rows whose record is larger are rejected, and those that the topic does not take"},
    {"caudal.on-data-loss", Kind::kString, "fail",
     "lost records stop the query with their ranges; 'record-and-continue': the ranges are in ops.losses"},
    {"scan.watermark.emit.strategy", Kind::kNotBuilt, "on-event", "the watermark follows every row"},
    {"scan.watermark.alignment.group", Kind::kNotBuilt, "",
     "all partitions of a table are one group: set 'scan.watermark.alignment.max-drift' alone"},
    {"scan.watermark.alignment.update-interval", Kind::kNotBuilt, "", "drift is looked at before every poll"},
    {"scan.parallelism", Kind::kNotBuilt, "", "set 'parallelism.default': tasks share the partitions"},
};

}  // namespace

std::span<const OptionSpec> KafkaConnector::options() const { return kOptions; }

Status KafkaConnector::CheckOptions(const Table& table) const { return CheckKafkaFormats(table); }

std::vector<Field> KafkaConnector::metadata() const { return KafkaColumns::Metadata(); }

Result<std::unique_ptr<Source>> KafkaConnector::MakeSource(const Table& table, const ReadRequest& request,
                                                           const ConnectorContext& context) const {
  return KafkaSource::Make(table, request, context);
}

Result<std::unique_ptr<Sink>> KafkaConnector::MakeSink(const Table& table,
                                                       const ConnectorContext& context) const {
  return KafkaSink::Make(table, /*upsert=*/false, context);
}

}  // namespace caudal
