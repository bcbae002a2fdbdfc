// SplitDiscovery: the splits of one source: finds them, hands them to the source's tasks, and knows them all,
// so that a manifest also names those that no task has reported yet.
//
// Owned by the coordinator, on whose thread everything but Look is called.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/source.h"
#include "state/manifest.h"

namespace caudal {

// Where a manifest says that a source's splits stand.
std::vector<std::pair<Split, Position>> PositionsOf(const NodeState& source);

class SplitDiscovery {
 public:
  SplitDiscovery(int node, std::unique_ptr<SplitEnumerator> enumerator, int64_t interval_millis)
      : node_(node), interval_millis_(interval_millis), enumerator_(std::move(enumerator)) {}

  // From a manifest. User or Data error from the source.
  Status Restore(const NodeState& state);
  struct Found {
    std::vector<Split> splits;
    std::string enumerator;  // its state
    bool complete = false;
  };
  // Blocks (I/O thread); OnFinished is not called meanwhile, all else may be.
  Result<Found> Look();
  // Splits not known before, added to known().
  std::vector<SplitState> Take(Found found);

  int node() const { return node_; }
  int64_t interval_millis() const { return interval_millis_; }
  bool complete() const { return complete_; }
  const std::vector<SplitState>& known() const { return known_; }
  void OnFinished(const Split& split);

  // Adds to the acks' splits those that have not been reported, and the enumerator's state.
  void Complete(NodeState* state) const;

 private:
  int node_;
  int64_t interval_millis_;
  std::unique_ptr<SplitEnumerator> enumerator_;
  std::vector<SplitState> known_;  // as they were handed out
  std::string snapshot_;
  bool complete_ = false;
};

}  // namespace caudal
