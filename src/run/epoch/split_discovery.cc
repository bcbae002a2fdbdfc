#include "run/epoch/split_discovery.h"

#include <algorithm>
#include <tuple>

namespace caudal {

std::vector<std::pair<Split, Position>> PositionsOf(const NodeState& source) {
  std::vector<std::pair<Split, Position>> positions;
  for (const SplitState& split : source.splits) {
    positions.push_back({{split.id, split.ordinal}, split.position});
  }
  return positions;
}

Status SplitDiscovery::Restore(const NodeState& state) {
  known_ = state.splits;
  RETURN_IF_ERROR(enumerator_->Restore(state.enumerator));
  snapshot_ = state.enumerator;
  complete_ = enumerator_->complete();
  return Status();
}

Result<SplitDiscovery::Found> SplitDiscovery::Look() {
  Found found;
  ASSIGN_OR_RETURN(found.splits, enumerator_->Discover());
  found.enumerator = enumerator_->Snapshot();
  found.complete = enumerator_->complete();
  return found;
}

std::vector<SplitState> SplitDiscovery::Take(Found found) {
  std::vector<SplitState> fresh;
  for (const Split& split : found.splits) {
    const bool old =
        std::any_of(known_.begin(), known_.end(), [&](const auto& each) { return each.id == split.id; });
    if (old) continue;
    SplitState state;
    state.id = split.id;
    state.ordinal = split.ordinal;
    fresh.push_back(state);
    known_.push_back(std::move(state));
  }
  snapshot_ = std::move(found.enumerator);
  complete_ = found.complete;
  return fresh;
}

void SplitDiscovery::OnFinished(const Split& split) {
  enumerator_->OnFinished(split);
  snapshot_ = enumerator_->Snapshot();
}

void SplitDiscovery::Complete(NodeState* state) const {
  for (const SplitState& split : known_) {
    const bool reported = std::any_of(state->splits.begin(), state->splits.end(),
                                      [&](const SplitState& each) { return each.id == split.id; });
    if (!reported) state->splits.push_back(split);
  }
  std::sort(state->splits.begin(), state->splits.end(), [](const SplitState& a, const SplitState& b) {
    return std::tie(a.ordinal, a.id) < std::tie(b.ordinal, b.id);
  });
  state->enumerator = snapshot_;
}

}  // namespace caudal
