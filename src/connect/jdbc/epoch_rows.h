// EpochRows: what a sink was given in one epoch, folded by key as it comes: one row a key, the last.
//
// Without a key every row is kept, in order. One thread; the bytes are the buffer's own. A row costs one
// probe of a flat table and the copy of its cells, nothing is allocated a row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/chunk.h"
#include "data/row_key.h"

namespace caudal {

class EpochRows {
 public:
  explicit EpochRows(std::vector<int> key) : key_(std::move(key)) {}

  // Copies the chunk's selected rows. -U is the courtesy before a +U and changes nothing by itself.
  void Add(const Chunk& chunk);

  // One row as the segment holds it: what to do and how many input rows it stands for.
  struct Row {
    uint64_t begin = 0;  // of its key's bytes; its cells follow
    uint32_t key_size = 0;
    uint32_t cells_size = 0;
    uint32_t added = 0;    // +I and +U folded into it
    uint32_t removed = 0;  // -D and -U folded into it
    bool is_delete = false;
  };
  size_t size() const { return rows_.size(); }
  // Rows in key order (in order of arrival without a key), so that a b-tree is walked, not jumped about in.
  std::vector<const Row*> Ordered() const;
  std::string_view cells(const Row& row) const {
    return std::string_view(bytes_).substr(row.begin + row.key_size, row.cells_size);
  }
  int64_t bytes() const;
  bool empty() const { return rows_.empty(); }

 private:
  std::string_view key(const Row& row) const {
    return std::string_view(bytes_).substr(row.begin, row.key_size);
  }
  // The row of the key, made (with nothing added or removed) if there is none.
  Row* Find(std::string_view key, uint64_t hash);
  void GrowSlots();
  void DropDeadBytes();

  std::vector<int> key_;
  std::string bytes_;
  uint64_t dead_bytes_ = 0;  // of rows that newer ones replaced
  std::vector<Row> rows_;
  std::vector<uint64_t> hashes_;  // of rows_
  std::vector<uint32_t> slots_;   // position in rows_ + 1; 0 = free; a power of two
  RowKeys keys_;
};

}  // namespace caudal
