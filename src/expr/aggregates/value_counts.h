// ValueCounts: how often each value of a DISTINCT aggregate stands, by the value's bytes.
//
// One table while the values are few, then kTables by their hashes: each grows alone, so that no growth of a
// set of millions holds a step up, and the counts lie side by side, so that a snapshot runs through memory in
// order. One thread. The order of ForEach hangs on what was added and taken away alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/sketch/hyper_log_log.h"

namespace caudal {

class ValueCounts {
 public:
  // Adds `by` to the value's count and returns it; at 0 the value is gone. REQUIRES: `by` is not 0.
  int64_t Add(std::string_view value, int64_t by) {
    const uint64_t hash = HyperLogLog::Hash(value.data(), value.size());
    const int64_t count = TableOf(hash)->Add(value, hash, by, &size_);
    if (tables_.size() == 1 && size_ > kFew) Spread();
    return count;
  }
  // 0 for one that is not there.
  int64_t count(std::string_view value) const {
    const uint64_t hash = HyperLogLog::Hash(value.data(), value.size());
    return tables_[tables_.size() == 1 ? 0 : hash % kTables].count(value, hash);
  }
  size_t size() const { return size_; }
  int64_t bytes() const {
    int64_t bytes = static_cast<int64_t>(tables_.size() * sizeof(Table));
    for (const Table& table : tables_) bytes += table.bytes();
    return bytes;
  }
  template <typename Visit>  // (std::string_view value, int64_t count)
  void ForEach(Visit visit) const {
    for (const Table& table : tables_) table.ForEach(visit);
  }

 private:
  static constexpr size_t kFew = 4096;
  static constexpr uint64_t kTables = 256;

  struct Slot {
    std::string value;
    int64_t count = 0;  // 0: the slot is free
  };
  // Open addressing; a slot that becomes free is filled from behind.
  class Table {
   public:
    int64_t Add(std::string_view value, uint64_t hash, int64_t by, size_t* size);
    int64_t count(std::string_view value, uint64_t hash) const {
      return slots_.empty() ? 0 : slots_[Find(value, hash)].count;
    }
    int64_t bytes() const { return static_cast<int64_t>(slots_.capacity() * sizeof(Slot)) + long_bytes_; }
    template <typename Visit>
    void ForEach(Visit visit) const {
      for (const Slot& slot : slots_) {
        if (slot.count != 0) visit(std::string_view(slot.value), slot.count);
      }
    }

   private:
    size_t Home(uint64_t hash) const { return static_cast<size_t>(hash / kTables) & (slots_.size() - 1); }
    // Where it is or would be.
    size_t Find(std::string_view value, uint64_t hash) const;
    void Grow();
    void Free(size_t at);

    std::vector<Slot> slots_;  // a power of two of them, a quarter free at least
    size_t used_ = 0;
    int64_t long_bytes_ = 0;  // of values that do not fit into their slot
  };

  Table* TableOf(uint64_t hash) { return &tables_[tables_.size() == 1 ? 0 : hash % kTables]; }
  void Spread();

  std::vector<Table> tables_{1};
  size_t size_ = 0;
};

}  // namespace caudal
