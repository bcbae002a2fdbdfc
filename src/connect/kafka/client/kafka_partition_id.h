// KafkaPartitionId: a partition of a topic.
#pragma once

#include <cstdint>
#include <string>

namespace caudal {

struct KafkaPartitionId {
  std::string topic;
  int32_t partition = 0;
  auto operator<=>(const KafkaPartitionId&) const = default;
};

}  // namespace caudal
