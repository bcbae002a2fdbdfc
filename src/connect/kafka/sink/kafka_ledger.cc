#include "connect/kafka/sink/kafka_ledger.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "connect/kafka/client/kafka_client.h"

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

// What no further look at the ledger changes.
Status Unreadable(const std::string& topic, const rd_kafka_message_t& message) {
  const std::string_view text(message.payload == nullptr ? "" : static_cast<const char*>(message.payload),
                              message.payload == nullptr ? 0 : message.len);
  switch (message.err) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return Status::User(fmt::format("the ledger '{}': {}", topic, rd_kafka_err2str(message.err)))
          .Hint("the broker's access lists must let this user make, read and write the ledger's topic");
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:
      return Status::External(fmt::format("the ledger '{}' cannot be read: {}", topic,
                                          text.empty() ? rd_kafka_err2str(message.err) : text),
                              Retry::kBackoff);
    default:
      return Status();  // a broker that has troubles
  }
}

using Deadline = std::chrono::steady_clock::time_point;

// Each record from `from` on, up to `end` or the end that this client gets to see; where that is.
template <typename Take>
Result<int64_t> ReadUpTo(KafkaClient* client, const KafkaPartitionId& partition, int64_t from, int64_t end,
                         Deadline deadline, Take take) {
  ASSIGN_OR_RETURN(rd_kafka_queue_s* const queue, client->AssignPartition(partition, from, -1));
  int64_t next = from;
  Status status;
  for (bool seen_all = next >= end; status.ok() && !seen_all;) {
    const Message message(rd_kafka_consume_queue(queue, kLedgerPollMillis));
    if (message != nullptr && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      next = message->offset + 1;
      status = take(*message);
    } else if (message != nullptr && message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      next =
          std::max(next, message->offset);  // behind the marks of transactions, which no reader gets to see
      seen_all = true;
    } else if (message != nullptr) {
      status = Unreadable(partition.topic, *message);
    }
    seen_all = seen_all || next >= end;
    if (status.ok() && !seen_all && std::chrono::steady_clock::now() > deadline) {
      const std::string complaint = client->last_complaint();
      status = Status::External(
          fmt::format("the ledger '{}' cannot be read to its end: it stands at {} of {}{}", partition.topic,
                      next, end, complaint.empty() ? "" : "; the client said last: " + complaint),
          Retry::kBackoff);
    }
  }
  client->Release(partition, queue);
  if (!status.ok()) return status;
  return next;
}

std::string_view KeyOf(const rd_kafka_message_t& message) {
  return std::string_view(static_cast<const char*>(message.key), message.key_len);
}

// The last record of `key` within `range`. Another writer's open transaction hides what is behind its
// beginning from a reader of committed records; who is named there is seen by the other one all the same. Our
// own transactions are over, so that only a record of ours that stands there has to be waited for.
Result<Epoch> FindLast(KafkaClient* committed, KafkaClient* open, const KafkaPartitionId& partition,
                       const KafkaRange& range, const std::string& key) {
  const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kLedgerMillis);
  Epoch last;
  for (int64_t next = range.low; next < range.high;) {
    const auto take = [&](const rd_kafka_message_t& message) -> Status {
      if (KeyOf(message) != key) return Status();
      const std::string_view value(static_cast<const char*>(message.payload), message.len);
      ASSIGN_OR_RETURN(last, ParseValue(partition.topic, value));
      return Status();
    };
    ASSIGN_OR_RETURN(next, ReadUpTo(committed, partition, next, range.high, deadline, take));
    if (next >= range.high) break;
    bool hidden = false;
    const auto look = [&](const rd_kafka_message_t& message) {
      hidden = hidden || KeyOf(message) == key;
      return Status();
    };
    RETURN_IF_ERROR(ReadUpTo(open, partition, next, range.high, deadline, look).status());
    if (!hidden) break;
    if (std::chrono::steady_clock::now() > deadline) {
      return Status::External(fmt::format("the ledger '{}' cannot be read to its end: it stands at {} of {}",
                                          partition.topic, next, range.high),
                              Retry::kBackoff)
          .Hint(
              "another writer's transaction is open there, which ends with its next start or its "
              "'transaction.timeout.ms'");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kLedgerPollMillis));
  }
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
  if (range.high == range.low) return Epoch();
  reading["isolation.level"] = "read_committed";
  ASSIGN_OR_RETURN(const std::unique_ptr<KafkaClient> committed, KafkaClient::Make(reading, "caudal"));
  return FindLast(committed.get(), open.get(), partition, range, key);
}

}  // namespace caudal
