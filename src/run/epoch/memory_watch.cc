#include "run/epoch/memory_watch.h"

#include <fmt/format.h>

namespace caudal {
namespace {

// After so many epochs that gave nothing back, memory is held by what will not go away.
constexpr int64_t kPatientEpochs = 2;
constexpr int64_t kEphemeralPatience = 5'000'000'000;

double Megabytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

Status MemoryWatch::Look(const std::string& query, int64_t now_nanos) {
  const MemoryBudget* over = budget_ != nullptr ? budget_->over() : nullptr;
  if (over == nullptr) {
    over_ = false;
    epochs_ = 0;
    return Status();
  }
  // Of several that are too much together the one that holds most has to go.
  const bool ours = budget_->must_give_back();
  if (!over_ || !ours) {
    since_nanos_ = now_nanos;
    epochs_ = 0;
  }
  over_ = true;
  const bool in_vain = ephemeral_ ? now_nanos - since_nanos_ > kEphemeralPatience : epochs_ >= kPatientEpochs;
  if (!in_vain) return Status();
  const std::string held =
      fmt::format("query '{}' holds {:.1f} MB of memory", query, Megabytes(budget_->used()));
  const std::string limit =
      fmt::format("more than the {:.1f} MB of '{}'", Megabytes(over->limit()), over->name());
  const std::string message =
      over == budget_ ? fmt::format("{}, {}, and a checkpoint gave nothing back", held, limit)
                      : fmt::format(
                            "{}, the most of all that together hold {:.1f} MB, {}, and a checkpoint "
                            "gave nothing back",
                            held, Megabytes(over->used()), limit);
  const std::string raise =
      over == budget_ ? "raise 'caudal.memory-limit'" : fmt::format("raise the limit of '{}'", over->name());
  // Starting again would need the same memory again.
  return Status::External(message, Retry::kNo)
      .Hint(raise +
            ", or keep less state: shorter windows, retention or TTL, fewer rows in a lookup's cache");
}

}  // namespace caudal
