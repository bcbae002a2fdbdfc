// KafkaTopicLimits: which records a topic takes, as its settings say.
//
// Plain data, and a free function that blocks until it is answered or the deadline is over (I/O threads
// only).
#pragma once

#include <cstdint>
#include <string>

// The client library's own, so that its header stays in the files that call it.
struct rd_kafka_s;

namespace caudal {

struct KafkaTopicLimits {
  static constexpr int64_t kNone = INT64_MAX;

  int64_t max_batch_bytes = kNone;  // 'max.message.bytes', of a batch as it is sent
  // How far a record's own time may lie before and after the broker's; none if the broker puts its own there.
  int64_t max_past_millis = kNone;
  int64_t max_future_millis = kNone;
};

// What the broker does not tell (the user may not ask for it, the broker is too old or away, there is no such
// topic) is no limit.
KafkaTopicLimits DescribeTopicLimits(rd_kafka_s* client, const std::string& topic, int timeout_ms);

}  // namespace caudal
