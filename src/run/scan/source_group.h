// SourceGroup: what the tasks of one source share: how far each one's active splits are, so that a task whose
// splits are all idle follows the others instead of holding them up.
//
// Thread-safe. One for each Scan node; outlives its tasks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "data/message.h"

namespace caudal {

class SourceGroup {
 public:
  explicit SourceGroup(int tasks) : least_(static_cast<size_t>(tasks)) {
    for (std::atomic<int64_t>& least : least_) least = Watermark::kNone;
  }
  // The furthest clock of any split of any task, idle ones included.
  void Reach(int64_t clock) {
    int64_t seen = furthest_.load();
    while (seen < clock && !furthest_.compare_exchange_weak(seen, clock)) {
    }
  }
  int64_t furthest() const { return furthest_.load(); }
  // kEnd: the task has no active split.
  void Publish(int task, int64_t least) { least_[static_cast<size_t>(task)] = least; }
  int64_t Least() const {
    int64_t least = Watermark::kEnd;
    for (const std::atomic<int64_t>& each : least_) least = std::min(least, each.load());
    return least;
  }

 private:
  std::vector<std::atomic<int64_t>> least_;
  std::atomic<int64_t> furthest_{Watermark::kNone};
};

}  // namespace caudal
