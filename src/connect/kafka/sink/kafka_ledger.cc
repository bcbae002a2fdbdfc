#include "connect/kafka/sink/kafka_ledger.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "connect/kafka/kafka_client.h"

namespace caudal {
namespace {

constexpr int kLedgerMillis = 20'000;
constexpr int kLedgerPollMillis = 200;
constexpr int kNewLedgerMillis = 5'000;

struct MessageDeleter {
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
};
using Message = std::unique_ptr<rd_kafka_message_t, MessageDeleter>;

Result<Epoch> ParseValue(const std::string& topic, std::string_view value) {
  const auto json = nlohmann::json::parse(value, nullptr, false);
  const auto number = [&json](const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_number_integer();
  };
  if (number("generation") && number("number")) return Epoch{json["generation"], json["number"]};
  return Status::Data(fmt::format("topic '{}' holds '{}', which is no record of a ledger", topic, value))
      .Hint("give 'caudal.ledger-topic' the name of a topic that is the ledger's alone");
}

// Reads committed records up to offset `end`.
Result<Epoch> ReadUpTo(KafkaClient* client, const KafkaPartitionId& partition, int64_t end,
                       const std::string& key) {
  ASSIGN_OR_RETURN(rd_kafka_queue_s* const queue, client->AssignPartition(partition, 0, -1));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kLedgerMillis);
  Result<Epoch> last = Epoch();
  int64_t next = 0;
  while (last.ok() && next < end) {
    const Message message(rd_kafka_consume_queue(queue, kLedgerPollMillis));
    if (message != nullptr && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      next = message->offset + 1;
      const std::string_view name(static_cast<const char*>(message->key), message->key_len);
      if (name == key) {
        last = ParseValue(partition.topic,
                          std::string_view(static_cast<const char*>(message->payload), message->len));
      }
    } else if (message != nullptr && message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      // Behind the marks of transactions, too, which no reader gets to see.
      next = std::max(next, message->offset);
    }
    if (next < end && std::chrono::steady_clock::now() > deadline) {
      const std::string complaint = client->last_complaint();
      last =
          Status::External(fmt::format("the ledger '{}' cannot be read to its end: it stands at {} of {}{}",
                                       partition.topic, next, end,
                                       complaint.empty() ? "" : "; the client said last: " + complaint),
                           Retry::kBackoff)
              .Hint("a transaction of another writer may be open, which ends in two minutes at most");
    }
  }
  client->Release(partition, queue);
  return last;
}

}  // namespace

std::string KafkaLedgerKey(const ConnectorContext& context) {
  return fmt::format("{}@{}:{}", context.query, context.identity, context.sink);
}

std::string KafkaLedgerValue(const Epoch& epoch) {
  return fmt::format("{{\"generation\": {}, \"number\": {}}}", epoch.generation, epoch.number);
}

Result<Epoch> ReadKafkaLedger(const std::map<std::string, std::string>& properties, const std::string& topic,
                              const std::string& key) {
  std::map<std::string, std::string> reading = properties;
  const KafkaPartitionId partition{topic, 0};
  // The end of the log, open transactions among it: a reader of committed records is told where they begin.
  reading["isolation.level"] = "read_uncommitted";
  ASSIGN_OR_RETURN(const std::unique_ptr<KafkaClient> open, KafkaClient::Make(reading, "caudal"));
  // Brokers tell each other of a ledger that was made just now in their own time.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kNewLedgerMillis);
  Result<KafkaRange> found = open->Range(partition, kLedgerMillis);
  while (!found.ok() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kLedgerPollMillis));
    found = open->Range(partition, kLedgerMillis);
  }
  ASSIGN_OR_RETURN(const KafkaRange range, std::move(found));
  if (range.high == 0) return Epoch();
  reading["isolation.level"] = "read_committed";
  ASSIGN_OR_RETURN(const std::unique_ptr<KafkaClient> committed, KafkaClient::Make(reading, "caudal"));
  return ReadUpTo(committed.get(), partition, range.high, key);
}

}  // namespace caudal
