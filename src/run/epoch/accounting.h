// Accounting: the counts of all tasks at one barrier, and the checks that must hold before the manifest is
// made: nothing may disappear.
//
// No count is a remainder: each was made where the thing happened and is compared with one made elsewhere.
// Plain data of the coordinator.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "api/plan.h"
#include "run/epoch/epoch_control.h"

namespace caudal {

// One plan node, all its tasks together, since the job began.
struct NodeTotals {
  std::vector<int64_t> rows_in;
  int64_t rows_out = 0;
  int64_t rows_read = 0;
  int64_t records_passed = 0;
  std::vector<CountedFate> fates;

  int64_t fate_total() const;
  int64_t fate(std::string_view fate) const;
  // The node's counts since the query began, in `node`: those of the manifest restored from, if it is known
  // there, and these.
  void GoOnFrom(const NodeState* base, NodeState* node) const;
};

// What the check must know of a node.
enum class NodeRole { kSource, kPasses, kAbsorbs, kSink };

// Adds counts by fate and name.
void AddFates(const std::vector<CountedFate>& from, std::vector<CountedFate>* into);

class EpochTotals {
 public:
  explicit EpochTotals(int nodes) : nodes_(static_cast<size_t>(nodes)) {}

  void Add(const NodeAck& ack);
  // One of the dead rows since the barrier before.
  const std::optional<DeadExample>& first_dead() const { return first_dead_; }
  const NodeTotals& node(int node) const { return nodes_[static_cast<size_t>(node)]; }

  // `recounts`: by node, the rows in a sink's committables since the job began. Internal error that names
  // what does not add up.
  Status Check(const std::vector<std::string>& ids, const std::vector<NodeRole>& roles,
               const std::vector<int64_t>& recounts) const;

 private:
  std::vector<NodeTotals> nodes_;
  std::optional<DeadExample> first_dead_;
  std::map<std::pair<int, int>, int64_t> edges_;  // (reader, port) → rows sent
};

}  // namespace caudal
