// BlockArena: many small blocks of few sizes, at stable addresses, freed one by one.
//
// Freed blocks are kept for the next of their size; pages go back when no block is left, or with the arena.
// One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace caudal {

class BlockArena {
 public:
  BlockArena() = default;
  BlockArena(const BlockArena&) = delete;
  BlockArena& operator=(const BlockArena&) = delete;

  // 8-aligned; freed with the arena at the latest, unless larger than kLargest.
  char* Allocate(size_t size) {
    size = RoundUp(size);
    bytes_ += static_cast<int64_t>(size);
    if (size > kLargest) return static_cast<char*>(std::malloc(size));
    FreeBlock*& list = free_[size / kStep];
    if (list != nullptr) {
      char* block = reinterpret_cast<char*>(list);
      list = list->next;
      return block;
    }
    if (size > left_) {
      pages_.push_back(std::make_unique_for_overwrite<Page>());
      left_ = kPage;
    }
    left_ -= size;
    return pages_.back()->bytes + left_;
  }
  // `size`: as it was asked for.
  void Free(char* block, size_t size) {
    size = RoundUp(size);
    bytes_ -= static_cast<int64_t>(size);
    if (size > kLargest) {
      std::free(block);
    } else {
      FreeBlock* freed = reinterpret_cast<FreeBlock*>(block);
      freed->next = free_[size / kStep];
      free_[size / kStep] = freed;
    }
    if (bytes_ == 0) {
      pages_.clear();
      free_ = {};
      left_ = 0;
    }
  }

  int64_t bytes() const { return bytes_; }  // in blocks that are in use

 private:
  static constexpr size_t kStep = 8;
  static constexpr size_t kLargest = 2048;
  static constexpr size_t kPage = 64 * 1024;
  struct FreeBlock {
    FreeBlock* next;
  };
  struct alignas(64) Page {
    char bytes[kPage];
  };
  static size_t RoundUp(size_t size) { return (size + kStep - 1) / kStep * kStep; }

  std::vector<std::unique_ptr<Page>> pages_;
  std::array<FreeBlock*, kLargest / kStep + 1> free_{};
  size_t left_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace caudal
