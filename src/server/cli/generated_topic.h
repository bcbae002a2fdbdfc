// GeneratedTopic: the Kafka topic that `caudal generate --to kafka` fills. One thread; calls wait for
// brokers.
//
// It must be empty: the expectation counts offsets from 0, and records of others would make it wrong.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "connect/kafka/client/kafka_client.h"
#include "connect/kafka/kafka_producer.h"
#include "demo/neobank_records.h"

namespace caudal {

class GeneratedTopic {
 public:
  struct Target {
    std::string topic;
    std::map<std::string, std::string> properties;  // of the client library, bootstrap.servers among them
    uint32_t partitions = 0;  // 0: as many as it has; else it is made if it is not there
  };
  // User error: it is not there, holds records, or has another number of partitions.
  static Result<std::unique_ptr<GeneratedTopic>> Open(const Target& target);

  const std::string& name() const { return name_; }
  uint32_t partitions() const { return partitions_; }

  Status Send(const NeobankRecord& record);
  // Waits until all are delivered, and compares what the topic holds with what was sent.
  Status Finish(const NeobankRecords& records);

 private:
  GeneratedTopic() = default;
  Status CheckEmpty();

  std::string name_;
  uint32_t partitions_ = 0;
  std::unique_ptr<KafkaClient> client_;
  std::unique_ptr<KafkaProducer> producer_;
  std::string headers_;  // of the record at hand
};

}  // namespace caudal
