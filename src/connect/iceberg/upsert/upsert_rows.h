// UpsertRows: rows of a table with a key, in memory, folded: of each key the last row, or that it is gone.
//
// One thread at a time. Owns copies of the rows; those that a later one replaced stay in memory until the
// whole is written, and are not.
#pragma once

#include <cstdint>
#include <vector>

#include "data/chunk.h"
#include "data/row_key.h"
#include "iceberg/index/key_hash.h"

namespace caudal {

class UpsertRows {
 public:
  // `key`: columns of the chunks; outlives it.
  UpsertRows(const std::vector<int>* key, uint64_t seed) : key_(key), seed_(seed) {}

  // `content`: the chunk's columns as files have them. -U and -D delete.
  void Add(const Chunk& chunk, const std::vector<ColumnPtr>& content);

  struct Batch {
    Chunk rows;                          // of the file's columns, compact
    std::vector<iceberg::KeyHash> keys;  // of each of its rows
  };
  const std::vector<Batch>& batches() const { return batches_; }
  // The rows of a batch that no later one replaced, in their order.
  std::vector<SelectionPtr> Live() const;
  // Keys that have no row any more.
  std::vector<iceberg::KeyHash> Gone() const;

  // Rows that a later one of their key replaced: neither among the live nor among the gone.
  struct Folded {
    int64_t added = 0, removed = 0;
  };
  const Folded& folded() const { return folded_; }

  int64_t bytes() const { return bytes_ + static_cast<int64_t>(slots_.size() * sizeof(Slot)); }
  bool empty() const { return used_ == 0; }
  void Clear();

 private:
  static constexpr uint64_t kFree = UINT64_MAX, kGone = UINT64_MAX - 1;
  struct Slot {
    iceberg::KeyHash key;
    uint64_t place = kFree;  // number of the batch * kMaxRows + row
  };
  Slot* Find(const iceberg::KeyHash& key);
  void Grow();

  const std::vector<int>* key_;
  uint64_t seed_;
  RowKeys keys_;
  std::vector<Batch> batches_;
  std::vector<Slot> slots_;  // a power of two
  size_t used_ = 0;
  Folded folded_;
  int64_t bytes_ = 0;  // of batches_
};

}  // namespace caudal
