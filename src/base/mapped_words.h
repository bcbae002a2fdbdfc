// MappedWords: an array of 64-bit words, zero at first, in pages of its own that go back to the system when
// it is destroyed: what is large and replaced now and then leaves no holes in the heap.
//
// One owner; not copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/status.h"

namespace caudal {

class MappedWords {
 public:
  MappedWords() = default;
  // External error if the system has not so much memory.
  static Result<MappedWords> Make(size_t count);
  ~MappedWords();
  MappedWords(MappedWords&& other) noexcept
      : words_(std::exchange(other.words_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  MappedWords& operator=(MappedWords&& other) noexcept {
    std::swap(words_, other.words_);
    std::swap(count_, other.count_);
    return *this;
  }

  std::span<uint64_t> words() { return {words_, count_}; }
  std::span<const uint64_t> words() const { return {words_, count_}; }
  size_t size() const { return count_; }
  uint64_t operator[](size_t at) const { return words_[at]; }

 private:
  uint64_t* words_ = nullptr;
  size_t count_ = 0;
};

}  // namespace caudal
