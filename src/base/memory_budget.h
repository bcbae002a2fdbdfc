// MemoryBudget: bytes that a part of the process may hold, nested process → pipeline → query → operator.
//
// A charge counts at every level up to the root; it never blocks and never fails: over() tells the runtime to
// spill, press back and, when neither helps, to stop the query that holds most. Thread-safe; a parent
// outlives its children.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace caudal {

class MemoryBudget {
 public:
  // `limit` in bytes; 0 = only the parents' limits count.
  MemoryBudget(std::string name, int64_t limit, MemoryBudget* parent = nullptr)
      : name_(std::move(name)), limit_(limit), parent_(parent) {
    if (parent_ == nullptr) return;
    std::lock_guard lock(parent_->mutex_);
    parent_->children_.push_back(this);
  }
  ~MemoryBudget() {
    Charge(-used());
    if (parent_ == nullptr) return;
    std::lock_guard lock(parent_->mutex_);
    std::erase(parent_->children_, this);
  }
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // Negative `bytes` gives back.
  void Charge(int64_t bytes) {
    for (MemoryBudget* level = this; level != nullptr; level = level->parent_) {
      level->used_.fetch_add(bytes, std::memory_order_relaxed);
    }
  }
  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  int64_t limit() const { return limit_; }
  const std::string& name() const { return name_; }
  // The nearest level, from here up, that is over its limit; null if none is.
  const MemoryBudget* over() const {
    for (const MemoryBudget* level = this; level != nullptr; level = level->parent_) {
      if (level->limit_ > 0 && level->used() > level->limit_) return level;
    }
    return nullptr;
  }
  // Whether it is over, and it is for this one to give back: its own limit is passed, or of those that are
  // together over theirs it holds most, as does, among its like, each level in between.
  bool must_give_back() const {
    const MemoryBudget* over_level = over();
    if (over_level == nullptr) return false;
    for (const MemoryBudget* level = this; level != over_level; level = level->parent_) {
      if (!level->holds_most()) return false;
    }
    return true;
  }

 private:
  // Of its parent's; of equal ones the oldest does.
  bool holds_most() const {
    std::lock_guard lock(parent_->mutex_);
    const auto most =
        std::max_element(parent_->children_.begin(), parent_->children_.end(),
                         [](const MemoryBudget* a, const MemoryBudget* b) { return a->used() < b->used(); });
    return *most == this;
  }

  std::string name_;
  int64_t limit_;
  MemoryBudget* parent_;
  std::atomic<int64_t> used_{0};
  mutable std::mutex mutex_;
  std::vector<MemoryBudget*> children_;
};

}  // namespace caudal
