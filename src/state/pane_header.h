// PaneHeader: what Panes keeps in front of each row, in eight bytes: most panes hold little more than a value
// or two.
//
// Plain data; one thread, the table's.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace caudal {

class PaneHeader {
 public:
  // From_end of a pane that counts for every window over its slice.
  static constexpr int64_t kAllEnds = std::numeric_limits<int64_t>::min();
  static constexpr uint32_t kChanged = 1, kTouched = 2;

  explicit PaneHeader(int64_t from_end) : from_end_(from_end == kAllEnds ? kStoredAllEnds : from_end) {}
  static PaneHeader* Of(char* row) { return reinterpret_cast<PaneHeader*>(row - sizeof(PaneHeader)); }

  int64_t from_end() const { return from_end_ == kStoredAllEnds ? kAllEnds : from_end_; }
  // In which lists of its slice the pane stands.
  uint32_t noted() const { return noted_; }
  void Note(uint32_t lists) { noted_ |= lists & 3; }
  void Forget(uint32_t lists) { noted_ &= ~lists & 3; }
  // Bytes that hang from the row, when last measured, to the next power of two.
  int64_t extra_bytes() const { return extra_bits_ == 0 ? 0 : int64_t{1} << (extra_bits_ - 1); }
  void set_extra_bytes(uint64_t bytes) {
    extra_bits_ = bytes == 0 ? 0 : static_cast<uint64_t>(std::bit_width(bytes - 1) + 1) & 63;
  }

 private:
  static constexpr int64_t kStoredAllEnds = -(int64_t{1} << 55);

  int64_t from_end_ : 56;
  uint64_t noted_ : 2 = 0;
  uint64_t extra_bits_ : 6 = 0;
};
static_assert(sizeof(PaneHeader) == 8);

}  // namespace caudal
