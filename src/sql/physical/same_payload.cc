#include "sql/physical/same_payload.h"

#include <algorithm>

namespace caudal::sql {
namespace {

bool Same(const WindowSpec& a, const WindowSpec& b) {
  return a.size == b.size && a.slide == b.slide && a.offset == b.offset && a.time_column == b.time_column &&
         a.local_time_zone == b.local_time_zone;
}

// Tables are the same if they have one name and the same options: hints may change them.
bool Same(const Table& a, const Table& b) { return a.name == b.name && a.options == b.options; }

bool Same(const ScanNode& a, const ScanNode& b) { return Same(a.table, b.table) && a.columns == b.columns; }
bool Same(const ValuesNode& a, const ValuesNode& b) { return a.rows == b.rows; }
bool Same(const CalcNode& a, const CalcNode& b) {
  auto same_filter = [](const CalcNode::Filter& x, const CalcNode::Filter& y) {
    return x.name == y.name && x.condition == y.condition;
  };
  return std::ranges::equal(a.filters, b.filters, same_filter) && a.projections == b.projections;
}
bool Same(const WindowNode& a, const WindowNode& b) { return Same(a.window, b.window); }
bool Same(const AggregateNode& a, const AggregateNode& b) {
  return a.keys == b.keys && a.calls == b.calls && a.windowed == b.windowed && Same(a.window, b.window) &&
         a.window_columns == b.window_columns && a.emit == b.emit &&
         a.early_fire_delay == b.early_fire_delay && a.retracting == b.retracting &&
         a.update_before == b.update_before && a.newest_window == b.newest_window;
}
bool Same(const TopNNode& a, const TopNNode& b) {
  return a.partition == b.partition && a.order == b.order && a.first == b.first && a.last == b.last &&
         a.with_rank == b.with_rank && a.retracting == b.retracting && a.update_before == b.update_before &&
         a.emit == b.emit && a.rising == b.rising && Same(a.window, b.window);
}
bool Same(const DeduplicateNode& a, const DeduplicateNode& b) {
  return a.keys == b.keys && a.time_column == b.time_column && a.retain == b.retain;
}
bool Same(const MaterializeNode& a, const MaterializeNode& b) {
  return a.keys == b.keys && a.update_before == b.update_before;
}
bool Same(const UnionNode&, const UnionNode&) { return true; }
bool Same(const SortNode& a, const SortNode& b) {
  return a.keys == b.keys && a.offset == b.offset && a.limit == b.limit;
}
bool Same(const LookupNode& a, const LookupNode& b) {
  auto same_key = [](const LookupNode::Key& x, const LookupNode::Key& y) {
    return x.column == y.column && x.value == y.value;
  };
  auto same_condition = [](const CalcNode::Filter& x, const CalcNode::Filter& y) {
    return x.name == y.name && x.condition == y.condition;
  };
  return Same(a.table, b.table) && std::ranges::equal(a.keys, b.keys, same_key) && a.columns == b.columns &&
         std::ranges::equal(a.conditions, b.conditions, same_condition) &&
         a.keeps_unmatched == b.keeps_unmatched && a.unique == b.unique;
}
bool Same(const SinkNode& a, const SinkNode& b) { return Same(a.table, b.table) && a.key == b.key; }

}  // namespace

bool SamePayload(const PlanPayload& left, const PlanPayload& right) {
  return std::visit(
      [&](const auto& a) {
        const auto* b = std::get_if<std::remove_cvref_t<decltype(a)>>(&right);
        return b != nullptr && Same(a, *b);
      },
      left);
}

}  // namespace caudal::sql
