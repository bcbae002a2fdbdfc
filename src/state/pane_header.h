// PaneHeader: what Panes keeps in front of each row, in eight bytes: most panes hold little more than a value
// or two. A pane that does not count for every window has its from_end in front of that.
//
// Plain data; one thread, the table's.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace caudal {

struct KeyEntry;

class PaneHeader {
 public:
  // From_end of a pane that counts for every window over its slice.
  static constexpr int64_t kAllEnds = std::numeric_limits<int64_t>::min();
  static constexpr uint32_t kChanged = 1, kTouched = 2;

  // `entry`: of the key that the pane belongs to.
  PaneHeader(KeyEntry* entry, bool has_from_end)
      : bits_(reinterpret_cast<uint64_t>(entry) | (has_from_end ? kHasFromEnd : 0)) {
    CHECK((reinterpret_cast<uint64_t>(entry) & ~kAddress) == 0);
  }
  static PaneHeader* Of(char* row) { return reinterpret_cast<PaneHeader*>(row - sizeof(PaneHeader)); }

  KeyEntry* entry() const { return reinterpret_cast<KeyEntry*>(bits_ & kAddress); }
  int64_t from_end() const {
    if ((bits_ & kHasFromEnd) == 0) return kAllEnds;
    int64_t from_end;
    std::memcpy(&from_end, reinterpret_cast<const char*>(this) - sizeof(from_end), sizeof(from_end));
    return from_end;
  }
  // In which lists of its slice the pane stands.
  uint32_t noted() const { return static_cast<uint32_t>(bits_ & kNoted); }
  void Note(uint32_t lists) { bits_ |= lists & kNoted; }
  void Forget(uint32_t lists) { bits_ &= ~(lists & kNoted); }
  // Bytes that hang from the row, when last measured, to the next power of two.
  int64_t extra_bytes() const {
    const uint64_t bits = bits_ >> kExtraShift;
    return bits == 0 ? 0 : int64_t{1} << (bits - 1);
  }
  void set_extra_bytes(uint64_t bytes) {
    const uint64_t bits = bytes == 0 ? 0 : static_cast<uint64_t>(std::bit_width(bytes - 1) + 1) & 63;
    bits_ = (bits_ & ~(uint64_t{63} << kExtraShift)) | bits << kExtraShift;
  }

 private:
  // An address of eight bytes' alignment has three bits to spare at its end, and no user's has the first six.
  static constexpr uint64_t kNoted = kChanged | kTouched, kHasFromEnd = 4;
  static constexpr int kExtraShift = 58;
  static constexpr uint64_t kAddress = (uint64_t{1} << kExtraShift) - 8;

  uint64_t bits_;
};
static_assert(sizeof(PaneHeader) == 8);

}  // namespace caudal
