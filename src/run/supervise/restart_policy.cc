#include "run/supervise/restart_policy.h"

#include <algorithm>

namespace caudal {

std::optional<int64_t> RestartPolicy::AfterEnd(const Status& status) {
  constexpr int kMostDoublings = 20;  // far beyond any longest pause, far below an overflow
  ++failures_;
  if (!status.ok() && status.retry() == Retry::kNo) return std::nullopt;
  if (!status.ok() && status.domain() == Domain::kInternal && failures_ >= limits_.internal_failures) {
    return std::nullopt;
  }
  const int doublings = std::min(failures_ - 1, kMostDoublings);
  return std::min(limits_.longest_pause_millis, limits_.first_pause_millis << doublings);
}

}  // namespace caudal
