// PaneRows: where the rows of Panes lie, each with its header in front; PaneList: those of one key.
//
// Rows and slices are known by numbers of four bytes, of which a key's list has two for a pane: there are
// millions of panes, a thousand slices, and a list of addresses would be half as large as what it lists.
// Owned by Panes; one thread. A list is valid until a pane is added or removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "state/pane_header.h"
#include "state/row_arena.h"

namespace caudal {

struct Pane {
  int64_t slice;
  char* row;
  int64_t from_end() const { return PaneHeader::Of(row)->from_end(); }
};

// The same in a list.
struct ListedPane {
  uint32_t slice;
  uint32_t row;
};

class PaneRows {
 public:
  explicit PaneRows(size_t width)
      : plain_(sizeof(PaneHeader) + width), bounded_(sizeof(int64_t) + sizeof(PaneHeader) + width) {}

  // An uninitialised row with its header.
  uint32_t Add(KeyEntry* entry, int64_t from_end) {
    const bool bounded = from_end != PaneHeader::kAllEnds;
    const uint32_t number = bounded ? bounded_.Allocate() | kBounded : plain_.Allocate();
    char* row = this->row(number);
    if (bounded) std::memcpy(row - sizeof(PaneHeader) - sizeof(from_end), &from_end, sizeof(from_end));
    *PaneHeader::Of(row) = PaneHeader(entry, bounded);
    return number;
  }
  void Remove(uint32_t number) {
    (number & kBounded) != 0 ? bounded_.Free(number & ~kBounded) : plain_.Free(number);
  }
  char* row(uint32_t number) const {
    if ((number & kBounded) == 0) return plain_.At(number) + sizeof(PaneHeader);
    return bounded_.At(number & ~kBounded) + sizeof(int64_t) + sizeof(PaneHeader);
  }

  uint32_t AddSlice(int64_t slice) {
    if (free_slices_.empty()) {
      slices_.push_back(slice);
      return static_cast<uint32_t>(slices_.size() - 1);
    }
    const uint32_t number = free_slices_.back();
    free_slices_.pop_back();
    slices_[number] = slice;
    return number;
  }
  void RemoveSlice(uint32_t number) { free_slices_.push_back(number); }
  int64_t slice(uint32_t number) const { return slices_[number]; }

  Pane Get(ListedPane pane) const { return {slice(pane.slice), row(pane.row)}; }
  int64_t bytes() const { return plain_.bytes() + bounded_.bytes(); }

 private:
  static constexpr uint32_t kBounded = RowArena::kMostRows;  // of numbers of rows that have a from_end

  RowArena plain_, bounded_;
  std::vector<int64_t> slices_;
  std::vector<uint32_t> free_slices_;
};

// Ordered by slice.
class PaneList {
 public:
  PaneList(const PaneRows* rows, const ListedPane* panes, size_t size)
      : rows_(rows), panes_(panes), size_(size) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Pane operator[](size_t at) const { return rows_->Get(panes_[at]); }
  Pane front() const { return (*this)[0]; }
  // Without looking at the pane.
  int64_t slice(size_t at) const { return rows_->slice(panes_[at].slice); }
  PaneList first(size_t count) const { return {rows_, panes_, count}; }
  PaneList subspan(size_t from) const { return {rows_, panes_ + from, size_ - from}; }
  // Where the first pane at or past the slice stands.
  size_t LowerBound(int64_t slice) const {
    size_t from = 0;
    for (size_t count = size_; count > 0;) {
      const size_t half = count / 2;
      if (this->slice(from + half) < slice) {
        from += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    return from;
  }

  class Iterator {
   public:
    Iterator(const PaneRows* rows, const ListedPane* at) : rows_(rows), at_(at) {}
    Pane operator*() const { return rows_->Get(*at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const PaneRows* rows_;
    const ListedPane* at_;
  };
  Iterator begin() const { return {rows_, panes_}; }
  Iterator end() const { return {rows_, panes_ + size_}; }

 private:
  const PaneRows* rows_;
  const ListedPane* panes_;
  size_t size_;
};

}  // namespace caudal
