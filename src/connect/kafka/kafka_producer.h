// KafkaProducer: one producer of the client library, which sends records idempotently and acknowledged by all
// replicas in sync: in transactions, as of an epoch, or without.
//
// Every call but Produce blocks until it is answered or the deadline is over: I/O threads only, one at a
// time. After any error the producer is of no more use: what became of the transaction only a new one can
// settle, whose Make ends it (reference: Kafka's transaction protocol before KIP-890 lets a late answer apply
// to the next transaction of the same epoch of a producer).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "connect/kafka/client/kafka_config.h"
#include "connect/kafka/client/kafka_topic_limits.h"

// The client library's own, so that its header stays in the files that call it.
struct rd_kafka_message_s;

namespace caudal {

struct OutgoingRecord {
  std::string_view topic;
  int32_t partition = -1;  // -1: the client chooses
  // No data: NULL.
  std::string_view key, value;
  int64_t timestamp_millis = -1;  // -1: now
  std::string_view headers;       // as AppendHeader writes them
};

class KafkaProducer {
 public:
  // `transactional_id`: empty = without transactions. Otherwise fences every older producer of the id and
  // ends its transaction. User error for properties that the library does not know.
  static Result<std::unique_ptr<KafkaProducer>> Make(const std::map<std::string, std::string>& properties,
                                                     const std::string& transactional_id);
  ~KafkaProducer();
  KafkaProducer(const KafkaProducer&) = delete;
  KafkaProducer& operator=(const KafkaProducer&) = delete;

  // REQUIRES for Begin and Commit: a transactional id.
  Status Begin();
  // Copies the record; waits for room in the client's queue. The Status is of this record or of one before.
  Status Produce(const OutgoingRecord& record);
  // Waits until each record is acknowledged. User error if nothing comes because `topic` is no longer there.
  Status Flush(const std::string& topic);
  Status Commit();
  int64_t acknowledged() const { return acknowledged_; }
  // The compression that the client was set to, and whether a broker has not taken it since.
  static std::string Compression(const std::map<std::string, std::string>& properties);
  bool compression_refused() const { return events_.compression_refused(); }

  Result<std::string> ClusterId();
  // User error: there is no such topic. External errors: no broker answered.
  Result<int32_t> Partitions(const std::string& topic);
  // The same of a topic that was there a while ago: a broker that has just started may not know it yet, so
  // that for some seconds a missing one is asked for again.
  Result<int32_t> AwaitPartitions(const std::string& topic);
  // The same as Partitions; makes the topic with the broker's own numbers of partitions and
  // replicas if it is not there.
  Result<int32_t> PartitionsOrMake(const std::string& topic);
  KafkaTopicLimits Limits(const std::string& topic);
  // Makes a compacted topic of one partition unless it is there.
  Status MakeCompactedTopic(const std::string& topic);

 private:
  KafkaProducer() = default;
  static void OnDelivery(rd_kafka_s*, const rd_kafka_message_s* message, void*);
  // `partitions`: -1: as the broker makes topics. Ok too if the topic has come meanwhile.
  Status MakeTopic(const std::string& topic, int partitions, KafkaSettings settings);
  Status Failure(std::string_view what, int error, std::string_view text) const;

  KafkaEvents events_;
  rd_kafka_s* client_ = nullptr;
  // Written by callbacks, which run within this object's own calls.
  int64_t produced_ = 0;
  int64_t acknowledged_ = 0;
  int first_error_ = 0;  // of a record
};

}  // namespace caudal
