#include "sql/physical/exchanges.h"

#include <fmt/format.h>

#include <map>
#include <optional>

namespace caudal::sql {
namespace {

// The keys by which the rows of a node must be together; nothing: they may be anywhere.
std::optional<std::vector<int>> DistributionKeys(const PlanNode& node) {
  if (const AggregateNode* aggregate = node.as<AggregateNode>()) return aggregate->keys;
  if (const TopNNode* top = node.as<TopNNode>()) return top->partition;
  if (const DeduplicateNode* deduplicate = node.as<DeduplicateNode>()) return deduplicate->keys;
  if (const MaterializeNode* materialize = node.as<MaterializeNode>()) return materialize->keys;
  if (node.as<SortNode>()) return std::vector<int>();
  if (const SinkNode* sink = node.as<SinkNode>(); sink != nullptr && !sink->key.empty()) return sink->key;
  return std::nullopt;
}

// Decoding and each branch of a statement set cost about as much as all operators between them: cut there,
// two cores are busy with one split. Chunks go over whole, so a lane costs nothing per row.
void PlaceLanes(Draft& draft) {
  const std::vector<int> readers = CountReaders(draft);
  for (PlanNode& node : draft.nodes) {
    for (PlanInput& input : node.inputs) {
      const PlanNode& from = draft.nodes[static_cast<size_t>(input.node)];
      const bool shared = readers[static_cast<size_t>(input.node)] > 1;
      if (shared || from.as<ScanNode>() != nullptr) input.exchange.kind = Exchange::Kind::kLane;
    }
  }
}

}  // namespace

void PlaceExchanges(Draft& draft, int parallelism) {
  if (parallelism <= 1) return PlaceLanes(draft);
  const std::vector<int> readers = CountReaders(draft);
  for (PlanNode& node : draft.nodes) {
    const std::optional<std::vector<int>> keys = DistributionKeys(node);
    for (PlanInput& input : node.inputs) {
      const PlanNode& from = draft.nodes[static_cast<size_t>(input.node)];
      // Rows that an upsert sink gets from the operator of the same key are together already.
      const bool together = node.as<SinkNode>() && (from.as<MaterializeNode>() || !keys);
      if (keys && !together) {
        input.exchange = {Exchange::Kind::kHash, *keys};
      } else if (readers[static_cast<size_t>(input.node)] > 1) {
        input.exchange.kind = Exchange::Kind::kChain;
      }
    }
  }
}

void AssignIds(Draft& draft) {
  std::map<std::string, int> used;
  for (PlanNode& node : draft.nodes) node.id = fmt::format("{}/{}", node.id, ++used[node.id]);
}

}  // namespace caudal::sql
