#include "connect/kafka/sink/kafka_sink.h"

#include <fmt/format.h>

#include "connect/kafka/client/kafka_client.h"
#include "connect/kafka/sink/kafka_committer.h"
#include "connect/kafka/sink/kafka_envelope.h"
#include "connect/kafka/sink/kafka_sink_writer.h"

namespace caudal {
namespace {

constexpr int kLookMillis = 3'000;

}  // namespace

Result<std::unique_ptr<Sink>> KafkaSink::Make(const Table& table, bool upsert,
                                              const ConnectorContext& context) {
  ASSIGN_OR_RETURN(KafkaSinkOptions options, KafkaSinkOptions::From(table, upsert));
  ASSIGN_OR_RETURN(const KafkaEnvelope envelope, KafkaEnvelope::Make(table, options));
  return std::unique_ptr<Sink>(new KafkaSink(table, std::move(options), context));
}

Status KafkaSink::CheckTarget() const {
  ASSIGN_OR_RETURN(const std::unique_ptr<KafkaClient> client,
                   KafkaClient::Make(options_.table.properties, "caudal"));
  Result<KafkaTopic> topic = client->Topic(options_.topic, kLookMillis);
  if (!topic.ok()) {
    if (topic.status().domain() == Domain::kExternal) return Status();
    return std::move(topic).status().At(options_.frame());
  }
  if (topic->partitions > 0 || options_.create_topic) return Status();
  return Status::User("there is no topic '" + options_.topic + "'")
      .Hint(
          "make it, with the partitions and the retention that its readers need, or let caudal do it: "
          "'caudal.create-topic' = 'true'")
      .At(options_.frame());
}

Result<std::unique_ptr<SinkWriter>> KafkaSink::MakeWriter(int task) {
  ASSIGN_OR_RETURN(KafkaEnvelope envelope, KafkaEnvelope::Make(table_, options_));
  return std::unique_ptr<SinkWriter>(std::make_unique<KafkaSinkWriter>(
      std::move(envelope), options_.max_record_bytes, &facts_, context_.env,
      std::make_unique<SegmentWriter>(KafkaSegmentForm(options_, task, facts_.cluster), context_, task)));
}

Result<std::unique_ptr<SinkCommitter>> KafkaSink::MakeCommitter() {
  if (!options_.exactly_once || context_.ephemeral) {
    // Such a committer does not connect before its first commit, and writers want to know earlier.
    const auto client = KafkaClient::Make(options_.table.properties, "caudal");
    if (client.ok()) facts_.SetLimits((*client)->Limits(options_.topic, kLookMillis));
  }
  return std::unique_ptr<SinkCommitter>(std::make_unique<KafkaCommitter>(options_, context_, &facts_));
}

ClientFacts KafkaSink::client() const {
  std::string compression = KafkaProducer::Compression(options_.table.properties);
  if (facts_.compression_refused) compression = "none: a broker does not take " + compression;
  ClientFacts facts = {{"library", KafkaLibrary()}, {"compression", std::move(compression)}};
  if (const int64_t limit = KafkaRecordLimit(facts_.limits()); limit < options_.max_record_bytes)
    facts.emplace_back("record bytes", fmt::format("{}: the topic's max.message.bytes", limit));
  return facts;
}

}  // namespace caudal
