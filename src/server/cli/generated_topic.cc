#include "server/cli/generated_topic.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <thread>

#include "connect/kafka/sink/kafka_envelope.h"

namespace caudal {
namespace {

constexpr int kTimeoutMillis = 10'000;
constexpr int kOutageMillis = 60'000;
constexpr std::string_view kContentType = "application/json";

// Brokers tell each other of a new topic in their own time.
Result<KafkaTopic> Await(KafkaClient* client, const std::string& name, bool created) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kTimeoutMillis);
  while (true) {
    ASSIGN_OR_RETURN(KafkaTopic topic, client->Topic(name, kTimeoutMillis));
    if (topic.partitions > 0 || !created || std::chrono::steady_clock::now() > deadline) return topic;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

// The client has nothing to do while rows are sent, and may have lost its connections meanwhile: what it says
// first is that all are down.
Result<KafkaRange> AwaitRange(KafkaClient* client, const KafkaPartitionId& partition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kOutageMillis);
  while (true) {
    Result<KafkaRange> range = client->Range(partition, kTimeoutMillis);
    if (range.ok() || range.status().domain() != Domain::kExternal ||
        std::chrono::steady_clock::now() > deadline) {
      return range;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

}  // namespace

Result<std::unique_ptr<GeneratedTopic>> GeneratedTopic::Open(const Target& target) {
  std::unique_ptr<GeneratedTopic> topic(new GeneratedTopic());
  topic->name_ = target.topic;
  ASSIGN_OR_RETURN(topic->client_, KafkaClient::Make(target.properties, "caudal-generate"));
  bool created = false;
  if (target.partitions > 0) {
    ASSIGN_OR_RETURN(created, topic->client_->CreateTopic(target.topic, static_cast<int>(target.partitions),
                                                          kTimeoutMillis));
  }
  ASSIGN_OR_RETURN(const KafkaTopic found, Await(topic->client_.get(), target.topic, created));
  topic->partitions_ = static_cast<uint32_t>(found.partitions);
  if (found.partitions == 0) {
    return Status::User(fmt::format("there is no topic '{}'", target.topic))
        .Hint("say with --partitions how many it shall have, and it is created");
  }
  if (target.partitions > 0 && topic->partitions_ != target.partitions) {
    return Status::User(fmt::format("topic '{}' has {} partitions, not {}", target.topic, found.partitions,
                                    target.partitions))
        .Hint("leave --partitions out, or name a new topic");
  }
  RETURN_IF_ERROR(topic->CheckEmpty());
  ASSIGN_OR_RETURN(topic->producer_, KafkaProducer::Make(target.properties, ""));
  return topic;
}

Status GeneratedTopic::CheckEmpty() {
  for (uint32_t partition = 0; partition < partitions_; ++partition) {
    ASSIGN_OR_RETURN(const KafkaRange range,
                     client_->Range({name_, static_cast<int32_t>(partition)}, kTimeoutMillis));
    if (range.high == 0) continue;
    return Status::User(
               fmt::format("topic '{}' is not empty: partition {} ends at {}", name_, partition, range.high))
        .Hint("name a new topic with --topic and --partitions, or delete this one");
  }
  return Status();
}

Status GeneratedTopic::Send(const NeobankRecord& record) {
  char number[20];
  const char* end = std::to_chars(number, number + sizeof number, record.index).ptr;
  const std::string_view sequence(number, static_cast<size_t>(end - number));
  headers_.clear();
  AppendHeader("content-type", &kContentType, &headers_);
  AppendHeader("sequence", &sequence, &headers_);
  return producer_->Produce({.topic = name_,
                             .partition = static_cast<int32_t>(record.partition),
                             .key = record.key,
                             .value = record.value,
                             .headers = headers_});
}

Status GeneratedTopic::Finish(const NeobankRecords& records) {
  RETURN_IF_ERROR(producer_->Flush(name_));
  for (uint32_t partition = 0; partition < partitions_; ++partition) {
    ASSIGN_OR_RETURN(const KafkaRange range,
                     AwaitRange(client_.get(), {name_, static_cast<int32_t>(partition)}));
    if (static_cast<uint64_t>(range.high) == records.sent(partition)) continue;
    return Status::Data(fmt::format("partition {} of topic '{}' ends at {}, and {} records were sent there",
                                    partition, name_, range.high, records.sent(partition)))
        .Hint("somebody else writes to it: the expectation does not hold; take another topic");
  }
  return Status();
}

}  // namespace caudal
