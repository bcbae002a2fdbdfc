// RowPartitions: the rows of a chunk by the partition that the table's spec gives them.
//
// One thread; reused chunk after chunk.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "api/partition/partition_buffer.h"
#include "connect/iceberg/sink/iceberg_sink_plan.h"

namespace caudal {

class RowPartitions {
 public:
  // `plan` outlives it.
  explicit RowPartitions(const IcebergSinkPlan* plan) : plan_(plan) {}

  // Valid until the next call. No share is empty; PartitionShare::folder is a key that stands for the
  // partition's values alone.
  const std::vector<PartitionShare>& Split(const Chunk& chunk);

  // The values and the folder of a partition whose key Split gave.
  struct Partition {
    std::vector<Value> values;
    std::string folder;  // "ts_day=2026-01-31/", or a number where that would be too long a name
  };
  const Partition& Find(const std::string& key) const { return partitions_.at(key); }
  // Keys of before are forgotten.
  void Forget() { partitions_.clear(); }

 private:
  std::string FolderOf(const std::string& key, const std::vector<Value>& values) const;

  const IcebergSinkPlan* plan_;
  std::unordered_map<std::string, Partition> partitions_;
  std::unordered_map<std::string, size_t> share_of_;  // of this chunk
  std::vector<PartitionShare> shares_;
};

}  // namespace caudal
