#include "sql/physical/newest_window.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace caudal::sql {
namespace {

// Where a column comes from: follows it down through Calcs that only pick columns.
class ColumnsBelow {
 public:
  explicit ColumnsBelow(const PlanNode& node) : columns_(static_cast<size_t>(node.schema.size())) {
    for (size_t i = 0; i < columns_.size(); ++i) columns_[i] = static_cast<int>(i);
  }

  // False if the Calc filters or computes: then it may have something to say of a window that is left out.
  bool Through(const CalcNode& calc) {
    if (!calc.filters.empty()) return false;
    for (const Expr& projection : calc.projections) {
      if (projection.kind == Expr::Kind::kCall) return false;
    }
    for (int& column : columns_) {
      if (column == kNone) continue;
      const Expr& projection = calc.projections[static_cast<size_t>(column)];
      column = projection.kind == Expr::Kind::kColumn ? projection.column : kNone;
    }
    return true;
  }
  int operator[](int column) const { return columns_[static_cast<size_t>(column)]; }

 private:
  static constexpr int kNone = -1;

  std::vector<int> columns_;
};

bool KeepsNewest(const TopNNode& top) {
  return top.first == 1 && top.last == 1 && !top.with_rank && !top.retracting && !top.update_before &&
         top.emit == TopNNode::Emit::kOnChange && top.order.size() == 1 && !top.order[0].ascending;
}

bool FiresOnce(const AggregateNode& aggregate) {
  return aggregate.windowed && !aggregate.window.is_session() &&
         aggregate.emit == AggregateNode::Emit::kOnWatermark && aggregate.early_fire_delay == 0 &&
         !aggregate.retracting;
}

// Whether the Top-N is of each group of the Aggregate, by the time of its windows.
bool IsByWindow(const TopNNode& top, const AggregateNode& aggregate, const ColumnsBelow& below) {
  std::vector<int> groups;
  for (int column : top.partition) groups.push_back(below[column]);
  std::ranges::sort(groups);
  groups.erase(std::ranges::unique(groups).begin(), groups.end());
  if (groups.size() != aggregate.keys.size()) return false;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] != static_cast<int>(i)) return false;
  }
  // Start, end and time of a window all rise with it.
  return below[top.order[0].column] >= static_cast<int>(aggregate.keys.size() + aggregate.calls.size());
}

}  // namespace

void FindNewestWindows(Draft* draft) {
  const std::vector<int> readers = CountReaders(*draft);
  for (const PlanNode& node : draft->nodes) {
    const TopNNode* top = node.as<TopNNode>();
    if (top == nullptr || !KeepsNewest(*top)) continue;
    int at = node.inputs[0].node;
    ColumnsBelow below(draft->nodes[static_cast<size_t>(at)]);
    for (;;) {
      PlanNode& input = draft->nodes[static_cast<size_t>(at)];
      if (readers[static_cast<size_t>(at)] != 1) break;
      if (const CalcNode* calc = input.as<CalcNode>()) {
        if (!below.Through(*calc)) break;
        at = input.inputs[0].node;
        continue;
      }
      AggregateNode* aggregate = std::get_if<AggregateNode>(&input.payload);
      if (aggregate != nullptr && FiresOnce(*aggregate) && IsByWindow(*top, *aggregate, below)) {
        aggregate->newest_window = true;
      }
      break;
    }
  }
}

}  // namespace caudal::sql
