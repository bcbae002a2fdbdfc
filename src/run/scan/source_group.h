// SourceGroup: what the tasks of one source share: how far each one's active splits are, so that a task whose
// splits are all idle follows the others instead of holding them up; how far the slowest is, which those
// ahead wait for; and whether the whole source is idle.
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
  explicit SourceGroup(int tasks) : states_(static_cast<size_t>(tasks)) {}
  // The furthest clock of any split of any task, idle ones included.
  void Reach(int64_t clock) {
    int64_t seen = furthest_.load();
    while (seen < clock && !furthest_.compare_exchange_weak(seen, clock)) {
    }
  }
  int64_t furthest() const { return furthest_.load(); }
  // `least`: kEnd if the task has no active split. `slowest`: of those that have had a row, kEnd if there is
  // none. `idle`: has had no active one for its idle timeout, or has ended.
  void Publish(int task, int64_t least, int64_t slowest, bool idle) {
    State& state = states_[static_cast<size_t>(task)];
    state.least = least;
    state.slowest = slowest;
    state.idle = idle;
  }
  int64_t Least() const {
    int64_t least = Watermark::kEnd;
    for (const State& each : states_) least = std::min(least, each.least.load());
    return least;
  }
  // Of all tasks; kNone while one of them has not published yet.
  int64_t Slowest() const {
    int64_t slowest = Watermark::kEnd;
    for (const State& each : states_) slowest = std::min(slowest, each.slowest.load());
    return slowest;
  }
  bool idle() const {
    return std::all_of(states_.begin(), states_.end(), [](const State& each) { return each.idle.load(); });
  }

 private:
  struct State {
    std::atomic<int64_t> least{Watermark::kNone};
    std::atomic<int64_t> slowest{Watermark::kNone};
    std::atomic<bool> idle{false};
  };
  std::vector<State> states_;
  std::atomic<int64_t> furthest_{Watermark::kNone};
};

}  // namespace caudal
