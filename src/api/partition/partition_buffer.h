// PartitionBuffer: rows of partitions that have no open file yet, kept in memory by partition, so that many
// small partitions cost one file each and not one for every few rows.
//
// One thread. Owns copies of the rows: the chunks they came in, compacted, and where in them the rows of each
// partition stand.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "data/chunk.h"

namespace caudal {

// The rows of a chunk that belong to one partition.
struct PartitionShare {
  std::string folder;  // of the partition, or whatever else names it alone
  std::vector<uint16_t> rows;
  RowSet row_set() const { return {rows.data(), static_cast<int32_t>(rows.size())}; }
};

class PartitionBuffer {
 public:
  // The rows of one partition, in the order in which they came.
  struct Partition {
    std::string folder;
    std::vector<uint32_t> places;  // number of the chunk * kMaxRows + row
    int64_t bytes = 0;             // of the chunks, about
  };
  // Partitions, largest first, with what their rows stand in.
  struct Rows {
    std::vector<Chunk> chunks;
    std::vector<Partition> partitions;
    int64_t bytes = 0;

    // Hands one partition's rows over, in their order.
    using Append = std::function<Status(const std::vector<ColumnPtr>&, RowSet)>;
    Status ForEach(const Partition& partition, const Append& append) const;
  };

  // Copies the rows of `shares`, none of which is empty, out of `content`.
  void Add(const std::vector<ColumnPtr>& content, const std::vector<const PartitionShare*>& shares);

  // Of memory.
  int64_t bytes() const { return bytes_; }
  // Of the rows of one partition, about.
  int64_t bytes_of(const std::string& folder) const;

  // One partition.
  Rows Take(const std::string& folder);
  // The largest partitions, which together have half of the bytes.
  Rows TakeLargest();
  Rows TakeAll();

 private:
  // Moves `taken` out with the chunks, and keeps of the chunks what the others need.
  Rows Split(std::vector<Partition> taken);

  std::vector<Chunk> chunks_;
  std::unordered_map<std::string, Partition> partitions_;  // by folder
  int64_t bytes_ = 0;
};

}  // namespace caudal
