// KeyHash: a key as 128 bits, by which the index knows it.
//
// Two keys of a table share one with a chance of 1 to 10^22 at 10^8 keys. The seed differs from table to
// table, so that keys that collide in one do not in another. Values and a pure function; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace caudal::iceberg {

struct KeyHash {
  uint64_t high = 0, low = 0;
  auto operator<=>(const KeyHash&) const = default;
};

// XXH3, 128 bits; stored in files, never changes.
KeyHash HashKey(std::string_view key, uint64_t seed);
// Of a table's uuid.
uint64_t KeySeed(std::string_view table_uuid);

// Where a key's row is: a number of a file in a list that goes with it, and a position.
struct IndexEntry {
  static constexpr uint32_t kGone = UINT32_MAX;  // as `file`: the key has no row any more

  KeyHash key;
  uint32_t file = 0;
  uint32_t position = 0;
  bool gone() const { return file == kGone; }
};
static_assert(sizeof(IndexEntry) == 24);

}  // namespace caudal::iceberg
