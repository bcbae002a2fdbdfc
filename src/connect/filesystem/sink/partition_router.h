// PartitionRouter: the rows of a chunk by partition.
//
// One thread; reused chunk after chunk. Neighbouring rows mostly share a partition, and a chunk mostly has
// few, so a row is compared with the partitions seen in the chunk and only a new one costs text. From kFew on
// partitions are looked up by a hash of their values instead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/partition/partition_buffer.h"
#include "data/chunk.h"
#include "data/row_key.h"

namespace caudal {

class PartitionRouter {
 public:
  // `columns`: positions of the partition columns in a chunk, with their `names`.
  PartitionRouter(std::vector<int> columns, std::vector<std::string> names, std::string null_name)
      : columns_(std::move(columns)), names_(std::move(names)), null_name_(std::move(null_name)) {}

  // Valid until the next call. No share is empty; two may have one folder, as in
  // "date=2026-01-01/hour=7/", which is empty without partition columns.
  const std::vector<PartitionShare>& Split(const Chunk& chunk);

 private:
  static constexpr size_t kFew = 16;

  // The share of the i-th row, or the place in slots_ where it belongs.
  uint16_t* SlotOf(const Chunk& chunk, int32_t i);
  void FillSlots(const Chunk& chunk, size_t used);
  bool SamePartition(const Chunk& chunk, int32_t a, int32_t b) const;
  std::string PathOf(const Chunk& chunk, int32_t row) const;

  std::vector<int> columns_;
  std::vector<std::string> names_;
  std::string null_name_;
  std::vector<PartitionShare> shares_;
  std::vector<int32_t> first_;  // of each share: which row of the chunk's set began it
  RowKeys keys_;                // of the chunk's rows, once there are more than kFew shares
  std::vector<uint16_t> slots_;
};

}  // namespace caudal
