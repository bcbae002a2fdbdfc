// KafkaSinkFacts: what a committer finds out for the sink that made it.
//
// The sink owns it. `compression_refused` and the limits are written by the committer and read by any thread;
// `cluster` is written once, by LastCommitted, which comes before writers are made.
#pragma once

#include <atomic>
#include <string>

#include "connect/kafka/client/kafka_topic_limits.h"

namespace caudal {

class KafkaSinkFacts {
 public:
  std::atomic<bool> compression_refused{false};  // a broker has not taken the compression that was asked for
  std::string cluster;                           // that has the ledger; empty: there is none

  // The topic's, as they were last told.
  KafkaTopicLimits limits() const { return {max_batch_bytes_, max_past_millis_, max_future_millis_}; }
  void SetLimits(const KafkaTopicLimits& limits) {
    max_batch_bytes_ = limits.max_batch_bytes;
    max_past_millis_ = limits.max_past_millis;
    max_future_millis_ = limits.max_future_millis;
  }

 private:
  std::atomic<int64_t> max_batch_bytes_{KafkaTopicLimits::kNone};
  std::atomic<int64_t> max_past_millis_{KafkaTopicLimits::kNone};
  std::atomic<int64_t> max_future_millis_{KafkaTopicLimits::kNone};
};

}  // namespace caudal
