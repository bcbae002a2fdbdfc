// DeadRowBudget: how many of the rows that a query reads may be dead before it stops instead of keeping them
// aside.
//
// Asked before each manifest with the counts of all tasks at one barrier. Looks at the newest epochs that
// have enough rows together, so that neither one bad row of three stops a query nor a long good past hides a
// flood. Plain data of the coordinator.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "base/status.h"
#include "run/epoch/accounting.h"
#include "run/epoch/epoch_options.h"

namespace caudal {

class DeadRowBudget {
 public:
  explicit DeadRowBudget(DeadRowLimit limit) : limit_(limit) {}

  // Counts since the job began, over all nodes.
  struct Counts {
    int64_t read = 0;
    std::map<std::string, int64_t> dead;  // by class
    static Counts Of(const EpochTotals& totals, int nodes);
  };
  // Data error when too many rows since an earlier epoch are dead. `first`: one of this epoch's.
  Status Check(const Counts& now, const std::optional<DeadExample>& first) const;
  // The epoch of these counts has a manifest.
  void Note(Counts counts);

 private:
  // The newest epoch with enough rows behind it; null: there are not so many yet.
  const Counts* Base(const Counts& now) const;

  DeadRowLimit limit_;
  std::deque<Counts> past_{Counts{}};
};

}  // namespace caudal
