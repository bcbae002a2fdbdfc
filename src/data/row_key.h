// RowKeys: the keys of a chunk's rows as bytes, with their hashes: what state tables and routers look up by.
//
// The encoding is injective and version 1 for ever, since it is stored: each column is a tag byte (0 NULL,
// 1 value, 2 UUID) and its bytes; integers big-endian with the sign turned, so that bytes order as values do;
// doubles normalised (−0.0 is 0.0, every NaN is one NaN); strings escaped (00 → 00 FF, end 00 00), a
// canonical lower-case UUID its 16 bytes. docs/formats/row-key.md has the page. One RowKeys is reused chunk
// after chunk by one thread; the spans live until the next Encode.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/chunk.h"

namespace caudal {

inline constexpr int kKeyGroups = 128;

class RowKeys {
 public:
  // Encodes columns `key_columns` of the rows of `rows`.
  void Encode(const Chunk& chunk, const std::vector<int>& key_columns, RowSet rows);

  int32_t size() const { return static_cast<int32_t>(hashes_.size()); }
  // Key of the i-th row of the set.
  std::string_view key(int32_t i) const {
    const size_t at = static_cast<size_t>(i);
    return {bytes_.data() + starts_[at], starts_[at + 1] - starts_[at]};
  }
  uint64_t hash(int32_t i) const { return hashes_[static_cast<size_t>(i)]; }
  // Version 1 of the spreading to tasks: stored in checkpoints, never changes.
  int key_group(int32_t i) const { return KeyGroup(hash(i)); }

  static uint64_t Hash(std::string_view key);
  static int KeyGroup(uint64_t hash) { return static_cast<int>(hash >> 57); }  // the top 7 bits

 private:
  std::vector<char> bytes_;
  std::vector<uint32_t> starts_;
  std::vector<uint64_t> hashes_;
};

// Appends one value to a key: what RowKeys does a column at a time.
void AppendKeyValue(const Column& column, int32_t row, std::string* key);
// The same without the short form of UUIDs, hence in the order of the values: NULL first, NaN last.
void AppendOrderedValue(const Column& column, int32_t row, std::string* key);

// Values of a key back into columns (state → rows). `types`: of the key columns, in order. Appends one value
// to each builder. REQUIRES: `key` was made by RowKeys::Encode for these types.
class ColumnBuilder;
void DecodeKey(std::string_view key, const std::vector<Type>& types, std::vector<ColumnBuilder>* builders);
// The same for one value, taken from the front of `key`.
void DecodeKeyValue(std::string_view* key, ColumnBuilder* builder);

}  // namespace caudal
