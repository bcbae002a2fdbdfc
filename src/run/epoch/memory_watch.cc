#include "run/epoch/memory_watch.h"

#include <fmt/format.h>

namespace caudal {
namespace {

// After so many epochs that gave nothing back, memory is held by what will not go away.
constexpr int64_t kPatientEpochs = 2;
constexpr int64_t kEphemeralPatience = 5'000'000'000;

}  // namespace

Status MemoryWatch::Look(const std::string& query, int64_t now_nanos) {
  const MemoryBudget* over = budget_ != nullptr ? budget_->over() : nullptr;
  if (over == nullptr) {
    over_ = false;
    epochs_ = 0;
    return Status();
  }
  if (!over_) since_nanos_ = now_nanos;
  over_ = true;
  const bool in_vain = ephemeral_ ? now_nanos - since_nanos_ > kEphemeralPatience : epochs_ >= kPatientEpochs;
  if (!in_vain) return Status();
  // Starting again would need the same memory again.
  return Status::External(
             fmt::format("query '{}' holds {} MB of memory, more than the {} MB of '{}', and a checkpoint "
                         "gave nothing back",
                         query, over->used() >> 20, over->limit() >> 20, over->name()),
             Retry::kNo)
      .Hint("raise 'caudal.memory-limit', or keep less state: shorter windows, retention or TTL");
}

}  // namespace caudal
