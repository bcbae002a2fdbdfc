#include "sql/physical/upsert_keys.h"

#include <algorithm>
#include <optional>

#include "sql/physical/not_null_check.h"

namespace caudal::sql {
namespace {

std::vector<int> FirstColumns(size_t count) {
  std::vector<int> columns;
  for (size_t i = 0; i < count; ++i) columns.push_back(static_cast<int>(i));
  return columns;
}

// The keys whose columns all pass the Calc unchanged.
UpsertKeys CalcKeys(const CalcNode& calc, const UpsertKeys& input) {
  UpsertKeys keys;
  for (const std::vector<int>& key : input) {
    std::vector<int> mapped;
    for (int column : key) {
      for (size_t i = 0; i < calc.projections.size(); ++i) {
        const Expr& projection = WithoutCheck(calc.projections[i]);
        if (projection.kind != Expr::Kind::kColumn || projection.column != column) continue;
        mapped.push_back(static_cast<int>(i));
        break;
      }
    }
    if (mapped.size() == key.size()) keys.push_back(std::move(mapped));
  }
  return keys;
}

// Group keys, with a window column when there is a window; without one of those windows repeat the keys.
UpsertKeys AggregateKeys(const AggregateNode& aggregate) {
  std::vector<int> key = FirstColumns(aggregate.keys.size());
  if (!aggregate.windowed) return {key};
  const int base = static_cast<int>(aggregate.keys.size() + aggregate.calls.size());
  UpsertKeys keys;
  for (size_t i = 0; i < aggregate.window_columns.size(); ++i) {
    keys.push_back(key);
    keys.back().push_back(base + static_cast<int>(i));
  }
  return keys;
}

bool Holds(const std::vector<int>& key, const std::vector<int>& columns) {
  return std::ranges::all_of(columns,
                             [&](int column) { return std::ranges::find(key, column) != key.end(); });
}

// A key of the input stays one where rows come and go as they are. It does not where each place is updated in
// turn, since the deletion of a place may follow the update that moved its row up; nor where a row's changes
// of partition come from two tasks, in no order.
UpsertKeys TopNKeys(const TopNNode& top, const PlanNode& node, const UpsertKeys& input) {
  if (top.first == top.last) return {top.partition};
  UpsertKeys keys;
  if (top.with_rank) {
    keys.push_back(top.partition);
    keys.back().push_back(node.schema.size() - 1);
  }
  const bool insert_only = top.emit != TopNNode::Emit::kOnChange;
  const bool by_place = !insert_only && (top.with_rank || top.first > 1);
  if (by_place) return keys;
  for (const std::vector<int>& key : input) {
    if (insert_only || Holds(key, top.partition)) keys.push_back(key);
  }
  return keys;
}

UpsertKeys ScanKeys(const ScanNode& scan) {
  if (scan.table.primary_key.empty()) return {};
  std::vector<int> key;
  for (int column : scan.table.primary_key) {
    const auto found = std::ranges::find(scan.columns, column);
    if (found == scan.columns.end()) return {};
    key.push_back(static_cast<int>(found - scan.columns.begin()));
  }
  return {key};
}

}  // namespace

UpsertKeys FindUpsertKeys(const std::vector<PlanNode>& nodes, const PlanNode& node) {
  const UpsertKeys none;
  const UpsertKeys& input =
      node.inputs.empty() ? none : nodes[static_cast<size_t>(node.inputs[0].node)].upsert_keys;
  if (const ScanNode* scan = node.as<ScanNode>()) return ScanKeys(*scan);
  if (const CalcNode* calc = node.as<CalcNode>()) return CalcKeys(*calc, input);
  if (const AggregateNode* aggregate = node.as<AggregateNode>()) return AggregateKeys(*aggregate);
  if (const TopNNode* top = node.as<TopNNode>()) return TopNKeys(*top, node, input);
  if (const MaterializeNode* materialize = node.as<MaterializeNode>()) return {materialize->keys};
  if (const WindowNode* window = node.as<WindowNode>()) {
    // A row lies in each of its windows once.
    UpsertKeys keys = input;
    for (std::vector<int>& key : keys) {
      if (window->window.size != window->window.slide) key.push_back(node.schema.size() - 3);
    }
    return keys;
  }
  if (const LookupNode* lookup = node.as<LookupNode>()) return lookup->unique ? input : none;
  if (node.as<SortNode>() || node.as<SinkNode>() || node.as<DeduplicateNode>()) return input;
  return {};
}

bool HasKeyWithin(const UpsertKeys& keys, const std::vector<int>& columns) {
  return std::ranges::any_of(keys, [&](const std::vector<int>& key) {
    return std::ranges::all_of(
        key, [&](int column) { return std::ranges::find(columns, column) != columns.end(); });
  });
}

}  // namespace caudal::sql
