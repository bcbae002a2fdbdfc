// NeobankIds: the timestamp of the last published row of each transaction id. One thread.
//
// Open addressing with linear probing, at most three quarters full; nothing is ever removed, since an id that
// comes back after any time is counted. Ids are random numbers, so their bits are the hash.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace caudal {

class NeobankIds {
 public:
  // `rows`: how many may come; with more it grows.
  explicit NeobankIds(uint64_t rows)
      : slots_(std::bit_ceil(std::min(rows, kMostReserved) / 2 * 3 + kLeast)) {}

  // Fetches the id's slot into the cache while its row waits for its turn.
  void Prefetch(uint64_t high, uint64_t low) const { __builtin_prefetch(&slots_[At(high, low)]); }

  // Where the id's timestamp is kept, until the next call; `fresh_ms` is put there if the id is new.
  struct Found {
    int64_t* time_ms;
    bool is_new;
  };
  Found FindOrAdd(uint64_t high, uint64_t low, int64_t fresh_ms) {
    if (size_ >= slots_.size() / 4 * 3) Grow();
    size_t at = At(high, low);
    for (; slots_[at].used; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].high == high && slots_[at].low == low) return {&slots_[at].time_ms, false};
    }
    slots_[at] = {high, low, fresh_ms, true};
    ++size_;
    return {&slots_[at].time_ms, true};
  }

 private:
  static constexpr uint64_t kMostReserved = 8'000'000;
  static constexpr uint64_t kLeast = 1024;

  struct alignas(32) Slot {  // never on two cache lines
    uint64_t high, low;
    int64_t time_ms;
    bool used;
  };

  size_t At(uint64_t high, uint64_t low) const { return (high ^ low) & (slots_.size() - 1); }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    size_ = 0;
    for (const Slot& slot : old) {
      if (slot.used) FindOrAdd(slot.high, slot.low, slot.time_ms);
    }
  }

  std::vector<Slot> slots_;
  uint64_t size_ = 0;
};

}  // namespace caudal
