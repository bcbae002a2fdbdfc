// MemoryWatch: whether a query over its memory budget can still come below it, as after a commit sinks and
// clients give memory back. The coordinator's thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/memory_budget.h"
#include "base/status.h"

namespace caudal {

class MemoryWatch {
 public:
  // `budget` outlives it; null: nothing is watched. `ephemeral`: no epoch will give anything back.
  MemoryWatch(const MemoryBudget* budget, bool ephemeral) : budget_(budget), ephemeral_(ephemeral) {}

  // An error once the budget has been over in vain.
  Status Look(const std::string& query, int64_t now_nanos);
  void OnCommitted() { epochs_ += over_ ? 1 : 0; }
  bool over() const { return over_; }  // at the last look

 private:
  const MemoryBudget* budget_;
  bool ephemeral_;
  bool over_ = false;
  int64_t since_nanos_ = 0;
  int64_t epochs_ = 0;  // committed while over
};

}  // namespace caudal
