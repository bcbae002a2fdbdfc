// BlockList: a long sequence in blocks, so that an item goes in or out in the middle without all that follow
// moving. Places count from 0 over all blocks.
//
// Owns its items; one thread, which reading moves on in, too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace caudal {

template <typename Item>
class BlockList {
 public:
  static constexpr size_t kMost = 512;  // items in a block

  explicit BlockList(std::vector<Item> items) : size_(static_cast<int64_t>(items.size())) {
    for (size_t from = 0; from < items.size(); from += kMost / 2) {
      const auto begin = items.begin() + static_cast<ptrdiff_t>(from);
      const auto end = begin + static_cast<ptrdiff_t>(std::min(kMost / 2, items.size() - from));
      blocks_.emplace_back(std::make_move_iterator(begin), std::make_move_iterator(end));
    }
    if (blocks_.empty()) blocks_.emplace_back();
  }

  int64_t size() const { return size_; }
  const Item& operator[](int64_t place) const {
    Seek(place);
    return blocks_[block_][Within(place)];
  }

  // REQUIRES: 0 <= place <= size().
  void Insert(int64_t place, Item item) {
    Seek(place);
    std::vector<Item>& block = blocks_[block_];
    block.insert(block.begin() + static_cast<ptrdiff_t>(Within(place)), std::move(item));
    ++size_;
    if (block.size() <= kMost) return;
    const auto half = block.begin() + kMost / 2;
    std::vector<Item> rest(std::make_move_iterator(half), std::make_move_iterator(block.end()));
    block.erase(half, block.end());
    blocks_.insert(blocks_.begin() + static_cast<ptrdiff_t>(block_) + 1, std::move(rest));
  }
  void Remove(int64_t place) {
    Seek(place);
    std::vector<Item>& block = blocks_[block_];
    block.erase(block.begin() + static_cast<ptrdiff_t>(Within(place)));
    --size_;
    const auto here = blocks_.begin() + static_cast<ptrdiff_t>(block_);
    const auto next = here + 1;
    if (block.empty() && blocks_.size() > 1) {
      if (next == blocks_.end()) SeekBlock(block_ - 1);
      blocks_.erase(here);
    } else if (next != blocks_.end() && block.size() + next->size() <= kMost / 2) {
      block.insert(block.end(), std::make_move_iterator(next->begin()), std::make_move_iterator(next->end()));
      blocks_.erase(next);
    }
  }

  // The first place whose item is not `before`. REQUIRES: those that are come first.
  template <typename Before>
  int64_t Bound(Before before) const {
    const auto begins_before = [&](const std::vector<Item>& block) {
      return !block.empty() && before(block.front());
    };
    const auto behind = std::partition_point(blocks_.begin(), blocks_.end(), begins_before);
    if (behind == blocks_.begin()) return 0;
    SeekBlock(static_cast<size_t>(behind - blocks_.begin()) - 1);
    const std::vector<Item>& block = blocks_[block_];
    return start_ + (std::partition_point(block.begin(), block.end(), before) - block.begin());
  }

  std::vector<Item> Release() {
    std::vector<Item> items;
    items.reserve(static_cast<size_t>(size_));
    for (std::vector<Item>& block : blocks_)
      items.insert(items.end(), std::make_move_iterator(block.begin()), std::make_move_iterator(block.end()));
    return items;
  }

 private:
  size_t Within(int64_t place) const { return static_cast<size_t>(place - start_); }
  int64_t Behind() const { return start_ + static_cast<int64_t>(blocks_[block_].size()); }
  void Next() const {
    start_ = Behind();
    ++block_;
  }
  // To the block of the place; to the last one if that is the end.
  void Seek(int64_t place) const {
    if (place < start_) SeekBlock(0);
    while (place >= Behind() && block_ + 1 < blocks_.size()) Next();
  }
  void SeekBlock(size_t block) const {
    if (block < block_) {
      block_ = 0;
      start_ = 0;
    }
    while (block_ < block) Next();
  }

  std::vector<std::vector<Item>> blocks_;  // at least one; none empty but a single one
  int64_t size_;
  mutable size_t block_ = 0;   // where the last look was
  mutable int64_t start_ = 0;  // the place of its first item
};

}  // namespace caudal
