// RowArena: many rows of one width at stable addresses, freed one by one and known by numbers of four bytes,
// which lists of them are half as long with.
//
// The memory of a freed row is kept for the next; pages go back when no row is left, or with the arena. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/check.h"

namespace caudal {

class RowArena {
 public:
  // `width`: of a row, in bytes, at least four.
  explicit RowArena(size_t width) : width_((width + 7) / 8 * 8) {}
  RowArena(const RowArena&) = delete;
  RowArena& operator=(const RowArena&) = delete;

  // 8-aligned, of any contents.
  uint32_t Allocate() {
    ++rows_;
    if (free_ != kNone) {
      const uint32_t row = free_;
      std::memcpy(&free_, At(row), sizeof(free_));
      return row;
    }
    if (fresh_ % kRowsAPage == 0) {
      CHECK(fresh_ < kMostRows);
      pages_.push_back(std::make_unique_for_overwrite<uint64_t[]>(width_ / 8 * kRowsAPage));
    }
    return fresh_++;
  }
  void Free(uint32_t row) {
    std::memcpy(At(row), &free_, sizeof(free_));
    free_ = row;
    if (--rows_ > 0) return;
    pages_.clear();
    free_ = kNone;
    fresh_ = 0;
  }

  char* At(uint32_t row) const {
    return reinterpret_cast<char*>(pages_[row / kRowsAPage].get()) + row % kRowsAPage * width_;
  }
  int64_t bytes() const { return rows_ * static_cast<int64_t>(width_); }  // of rows that are in use

  static constexpr uint32_t kMostRows = uint32_t{1} << 31;

 private:
  static constexpr uint32_t kRowsAPage = 1024;
  static constexpr uint32_t kNone = UINT32_MAX;

  size_t width_;
  std::vector<std::unique_ptr<uint64_t[]>> pages_;
  uint32_t free_ = kNone;  // the first of those freed; each begins with the next one's number
  uint32_t fresh_ = 0;     // the first that was never used
  int64_t rows_ = 0;
};

}  // namespace caudal
