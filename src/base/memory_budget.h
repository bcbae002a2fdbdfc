// MemoryBudget: bytes that a part of the process may hold, nested process → query → operator.
//
// A charge counts at every level up to the root; it never blocks and never fails: over() tells the runtime to
// spill, press back and, when neither helps, to stop that query. Thread-safe; a parent outlives its children.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace caudal {

class MemoryBudget {
 public:
  // `limit` in bytes; 0 = only the parents' limits count.
  MemoryBudget(std::string name, int64_t limit, MemoryBudget* parent = nullptr)
      : name_(std::move(name)), limit_(limit), parent_(parent) {}
  ~MemoryBudget() { Charge(-used()); }
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

 private:
  std::string name_;
  int64_t limit_;
  MemoryBudget* parent_;
  std::atomic<int64_t> used_{0};
};

}  // namespace caudal
