// HyperLogLog: how many different values there were, in 4 KiB, within a standard error of 1.6 %.
//
// 2^12 registers and Ertl's estimator, which needs no bias tables. A small set is kept as sorted entries of
// 25 bits of hash, from which the registers can be made exactly: up to kSparseLimit values the count is exact
// but for one in 100,000. Which form a sketch has depends on its set of values alone, never on order or
// merging, so that a rebuild gives the same estimate. Up to kFew entries stand where else the address of more
// of them does: most panes of a window never allocate, and one that holds a value or two is two words. Bytes
// that are all zero are an empty sketch, and one may be moved with memcpy. Not thread-safe. The bytes of
// Serialize are version 1 for ever; docs/formats/hyper-log-log.md has the page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace caudal {

class HyperLogLog {
 public:
  static constexpr int kPrecision = 12;
  static constexpr size_t kRegisters = size_t{1} << kPrecision;
  static constexpr size_t kSparseLimit = 256;
  static constexpr size_t kFew = 3;

  HyperLogLog() {}
  ~HyperLogLog() {
    if (has_block()) std::free(block());
  }
  HyperLogLog(const HyperLogLog&) = delete;
  HyperLogLog& operator=(const HyperLogLog&) = delete;

  // The hash that Add takes: the same on every machine, for ever.
  static uint64_t Hash(const void* bytes, size_t size);

  void Add(uint64_t hash);
  // This becomes the sketch of both sets.
  void Merge(const HyperLogLog& other);
  // This becomes the same as `other`, in the memory that it has.
  void Assign(const HyperLogLog& other);
  // Fetches ahead what Add will look at besides the object itself.
  void Prefetch() const {
    if (has_block()) __builtin_prefetch(block(), 1);
  }
  int64_t Estimate() const;

  size_t bytes() const { return has_block() ? size_t{1} << block_bits_ : 0; }  // beside the object itself

  void Serialize(std::string* out) const;
  // Consumes a sketch from the front of `in`; false when the bytes are damaged.
  bool Deserialize(std::string_view* in);

 private:
  using Entries = std::span<const uint32_t>;

  // Ascending, one for each 25-bit prefix. REQUIRES, as all that names entries: !is_dense_.
  Entries entries() const { return {has_block() ? block_entries() : few_, size_}; }
  bool has_block() const { return block_bits_ > 0; }
  char* block() const {
    char* block;
    std::memcpy(&block, &few_[kFew - 2], sizeof(block));
    return block;
  }
  uint32_t* block_entries() const { return reinterpret_cast<uint32_t*>(block()); }
  uint8_t* ranks() const { return reinterpret_cast<uint8_t*>(block()); }
  void AddEntry(uint32_t entry);
  void Zip(Entries other);
  // Room for that many entries, those that are there in front.
  uint32_t* MakeRoom(size_t count);
  void SetEntries(Entries entries);
  // The block has that many bytes; what was in it is lost unless it was large enough.
  void Reserve(size_t bytes);
  void MakeDense(Entries entries);  // which must not lie in the block
  void RaiseAll(Entries entries);
  void Raise(size_t index, uint8_t rank) {
    if (ranks()[index] < rank) ranks()[index] = rank;
  }

  uint16_t size_ = 0;       // of entries
  uint8_t block_bits_ = 0;  // the block has 2 to the power of that many bytes; 0 = there is none
  bool is_dense_ = false;
  // A sketch that had more entries once keeps its block, as Assign is to find it, and has them there: the
  // block's address then stands in the last two of these.
  uint32_t few_[kFew] = {};
};
static_assert(sizeof(HyperLogLog) == 16);

}  // namespace caudal
