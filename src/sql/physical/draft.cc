#include "sql/physical/draft.h"

namespace caudal::sql {

std::vector<bool> Reachable(const Draft& draft) {
  std::vector<bool> reachable(draft.nodes.size(), false);
  for (int root : draft.roots) reachable[static_cast<size_t>(root)] = true;
  for (size_t i = draft.nodes.size(); i-- > 0;) {
    if (!reachable[i]) continue;
    for (const PlanInput& input : draft.nodes[i].inputs) reachable[static_cast<size_t>(input.node)] = true;
  }
  return reachable;
}

std::vector<int> CountReaders(const Draft& draft) {
  std::vector<int> readers(draft.nodes.size(), 0);
  const std::vector<bool> reachable = Reachable(draft);
  for (int root : draft.roots) ++readers[static_cast<size_t>(root)];
  for (size_t i = 0; i < draft.nodes.size(); ++i) {
    if (!reachable[i]) continue;
    for (const PlanInput& input : draft.nodes[i].inputs) ++readers[static_cast<size_t>(input.node)];
  }
  return readers;
}

Draft RemoveUnused(const Draft& draft) {
  const std::vector<bool> reachable = Reachable(draft);
  std::vector<int> position(draft.nodes.size(), -1);
  Draft result;
  for (size_t i = 0; i < draft.nodes.size(); ++i) {
    if (!reachable[i]) continue;
    position[i] = static_cast<int>(result.nodes.size());
    PlanNode node = draft.nodes[i];
    for (PlanInput& input : node.inputs) input.node = position[static_cast<size_t>(input.node)];
    result.nodes.push_back(std::move(node));
  }
  for (int root : draft.roots) result.roots.push_back(position[static_cast<size_t>(root)]);
  return result;
}

}  // namespace caudal::sql
