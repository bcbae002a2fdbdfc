// EpochRows: what a sink was given in one epoch, folded by key as it comes: one row a key, the last.
//
// Without a key every row is kept, in order. One thread; the bytes are the buffer's own. A row costs one
// probe of a flat table and the copy of its cells, nothing is allocated a row. What is held moves only when
// the table of slots doubles or most of the bytes are of rows that newer ones replaced.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "data/chunk.h"
#include "data/row_key.h"

namespace caudal {

class EpochRows {
 public:
  explicit EpochRows(std::vector<int> key) : key_(std::move(key)) {}

  // Copies the chunk's selected rows. A -U deletes: its +U may have another key, or have been rejected.
  void Add(const Chunk& chunk);

  // One row as the segment holds it: what to do and how many input rows it stands for.
  struct Row {
    char* bytes = nullptr;  // its key's; its cells follow
    uint32_t key_size = 0;
    uint32_t cells_size = 0;
    uint32_t added = 0;    // +I and +U folded into it
    uint32_t removed = 0;  // -D and -U folded into it
    bool is_delete = false;
  };
  size_t size() const { return rows_.size(); }
  // Rows in key order (in order of arrival without a key), so that a b-tree is walked, not jumped about in.
  std::vector<const Row*> Ordered() const;
  std::string_view cells(const Row& row) const { return {row.bytes + row.key_size, row.cells_size}; }
  int64_t bytes() const;
  bool empty() const { return rows_.empty(); }

 private:
  std::string_view key(const Row& row) const { return {row.bytes, row.key_size}; }
  // The row of the key, made (with nothing added or removed) if there is none.
  Row* Find(std::string_view key, uint64_t hash);
  void GrowSlots();
  // Puts the key and the cells in `cells_` where the row's bytes are, or where there is room.
  void Put(std::string_view key, Row* row);
  char* Reserve(size_t size);
  void DropDeadBytes();
  size_t CommonPrefix() const;  // of all keys

  std::vector<int> key_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;  // of the last block
  size_t free_bytes_ = 0;
  size_t block_bytes_ = 0;  // of all blocks
  size_t dead_bytes_ = 0;   // of rows that newer ones replaced
  std::string cells_;       // of the row at hand
  std::deque<Row> rows_;
  std::vector<uint64_t> hashes_;  // of rows_
  std::vector<uint32_t> slots_;   // position in rows_ + 1; 0 = free; a power of two
  RowKeys keys_;
};

}  // namespace caudal
