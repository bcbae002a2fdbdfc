// KafkaPosition: where a partition goes on: the next offset, and what tells that it is still the same log.
//
// As JSON text in the manifest (docs/formats/positions.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/source.h"

namespace caudal {

struct KafkaPosition {
  std::string cluster;  // the cluster's id
  std::string topic;
  std::string topic_id;  // empty: the broker did not tell
  int32_t partition = 0;
  int64_t offset = 0;             // of the next record
  int32_t leader_epoch = -1;      // of the last record read; -1 = not known
  std::vector<LostRange> losses;  // passed over since the query began, oldest first; the last kMostLosses
  static constexpr size_t kMostLosses = 256;

  std::string ToJson() const;
  // User error if the text is not such a position.
  static Result<KafkaPosition> Parse(std::string_view json);
};

}  // namespace caudal
