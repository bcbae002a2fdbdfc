// StateCharge: keeps the memory budget informed of what an operator's tables hold.
//
// Owned by the operator; gives everything back when it goes.
#pragma once

#include "base/memory_budget.h"

namespace caudal {

class StateCharge {
 public:
  StateCharge() = default;
  ~StateCharge() { Set(0); }
  StateCharge(const StateCharge&) = delete;
  StateCharge& operator=(const StateCharge&) = delete;

  void set_budget(MemoryBudget* budget) { budget_ = budget; }
  // `bytes`: held now.
  void Set(int64_t bytes) {
    if (budget_ != nullptr && bytes != charged_) budget_->Charge(bytes - charged_);
    charged_ = bytes;
  }

 private:
  MemoryBudget* budget_ = nullptr;
  int64_t charged_ = 0;
};

}  // namespace caudal
