// KafkaProducer: sends records to given partitions, idempotently and acknowledged by all replicas in sync, in
// batches compressed with zstd unless the properties say otherwise.
//
// One thread. A record is delivered once a Flush after its Send is ok.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "connect/kafka/kafka_config.h"

struct rd_kafka_topic_s;

namespace caudal {

class KafkaProducer {
 public:
  // User error for properties that the library does not know.
  static Result<std::unique_ptr<KafkaProducer>> Make(const std::map<std::string, std::string>& properties,
                                                     const std::string& topic);
  ~KafkaProducer();
  KafkaProducer(const KafkaProducer&) = delete;
  KafkaProducer& operator=(const KafkaProducer&) = delete;

  struct Record {
    int32_t partition = 0;
    std::string_view key;
    std::string_view value;
    std::span<const std::pair<std::string_view, std::string_view>> headers;
  };
  // Copies it; waits while the library holds as many as it may. The Status is of this record or of one
  // before.
  Status Send(const Record& record);
  // Waits until all are delivered. External error: some were not in time, or for good.
  Status Flush(int timeout_ms);

 private:
  KafkaProducer() = default;

  KafkaEvents events_;
  rd_kafka_s* client_ = nullptr;
  rd_kafka_topic_s* topic_ = nullptr;
  uint64_t sent_ = 0;
};

}  // namespace caudal
