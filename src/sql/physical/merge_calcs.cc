#include "sql/physical/merge_calcs.h"

#include <algorithm>

#include "sql/physical/plan_builder.h"
#include "sql/physical/rank_range.h"
#include "sql/physical/substitute.h"

namespace caudal::sql {
namespace {

constexpr int64_t kOpen = std::numeric_limits<int64_t>::max();

bool IsOpenTopN(const PlanNode& node) {
  const TopNNode* top = node.as<TopNNode>();
  return top != nullptr && top->last == kOpen;
}

// A merged projection replaces each use of its column: what is computed must be used once.
bool ComputesTwice(const CalcNode& inner, const CalcNode& outer) {
  std::vector<int> uses(inner.projections.size(), 0);
  auto count = [&](const Expr& expr) {
    VisitColumns(expr, [&](const Expr& column) { ++uses[static_cast<size_t>(column.column)]; });
  };
  for (const CalcNode::Filter& filter : outer.filters) count(filter.condition);
  for (const Expr& projection : outer.projections) count(projection);
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i] > 1 && inner.projections[i].kind == Expr::Kind::kCall) return true;
  }
  return false;
}

class CalcMerger {
 public:
  CalcMerger(const Draft& draft, const FailAt& fail)
      : draft_(draft), fail_(fail), readers_(CountReaders(draft)) {}

  Result<Draft> Run() {
    const std::vector<bool> reachable = Reachable(draft_);
    for (size_t i = 0; i < draft_.nodes.size(); ++i) {
      position_.push_back(-1);
      if (!reachable[i]) continue;
      PlanNode node = draft_.nodes[i];
      const int input = node.inputs.empty() ? -1 : node.inputs[0].node;
      for (PlanInput& each : node.inputs) each.node = position_[static_cast<size_t>(each.node)];
      if (node.as<CalcNode>() != nullptr) {
        MergeInput(node, readers_[static_cast<size_t>(input)]);
        RETURN_IF_ERROR(NarrowTopN(node));
      }
      position_.back() = builder_.Add(std::move(node));
    }
    Draft result;
    for (int root : draft_.roots) result.roots.push_back(position_[static_cast<size_t>(root)]);
    result.nodes = builder_.Take();
    result = RemoveUnused(result);
    for (const PlanNode& node : result.nodes) {
      if (IsOpenTopN(node)) {
        return fail_(node.position, "ROW_NUMBER() OVER without an upper bound is not built yet")
            .Hint("put it into a query in FROM and bound it there: WHERE row_num <= 10");
      }
    }
    return result;
  }

 private:
  void MergeInput(PlanNode& node, int readers) {
    CalcNode& outer = std::get<CalcNode>(node.payload);
    const PlanNode& input = builder_.node(node.inputs[0].node);
    const CalcNode* inner = input.as<CalcNode>();
    if (inner == nullptr) return;
    // Each reader of a row number has its own bounds, so that the Calc between may be repeated.
    const bool over_top = IsOpenTopN(builder_.node(input.inputs[0].node));
    if ((readers > 1 && !over_top) || (ComputesTwice(*inner, outer) && !over_top)) return;
    CalcNode merged;
    merged.filters = inner->filters;
    for (CalcNode::Filter& filter : outer.filters) {
      merged.filters.push_back({std::move(filter.name), Substitute(filter.condition, inner->projections)});
    }
    for (const Expr& projection : outer.projections) {
      merged.projections.push_back(Substitute(projection, inner->projections));
    }
    node.inputs[0].node = input.inputs[0].node;
    node.payload = std::move(merged);
  }

  // The conditions on the row number leave the Calc for the TopN below.
  Status NarrowTopN(PlanNode& node) {
    if (!IsOpenTopN(builder_.node(node.inputs[0].node))) return Status();
    CalcNode& calc = std::get<CalcNode>(node.payload);
    PlanNode top_node = builder_.node(node.inputs[0].node);
    TopNNode& top = std::get<TopNNode>(top_node.payload);
    const int rank = top_node.schema.size() - 1;
    RankRange range;
    std::erase_if(calc.filters,
                  [&](const CalcNode::Filter& filter) { return NarrowRank(filter.condition, rank, &range); });
    if (range.first > range.last) {
      return fail_(top_node.position, "the conditions on ROW_NUMBER() hold for no row");
    }
    top.first = range.first;
    top.last = range.last;
    if (top.first == top.last) ReplaceRank(calc, rank, top.first);
    bool used = false;
    auto look = [&](const Expr& expr) {
      VisitColumns(expr, [&](const Expr& column) { used |= column.column == rank; });
    };
    for (const CalcNode::Filter& filter : calc.filters) look(filter.condition);
    for (const Expr& projection : calc.projections) look(projection);
    if (!used) {
      top.with_rank = false;
      top_node.schema.fields.pop_back();
    }
    node.inputs[0].node = builder_.Add(std::move(top_node));
    return Status();
  }

  // Where only one row number can pass it is a constant.
  static void ReplaceRank(CalcNode& calc, int rank, int64_t value) {
    auto replace = [&](auto&& self, Expr& expr) -> void {
      if (expr.kind == Expr::Kind::kColumn && expr.column == rank) {
        expr = Expr::Literal(Type(TypeId::kBigInt, /*nullable=*/false), Value(value));
      }
      for (Expr& arg : expr.args) self(self, arg);
    };
    for (CalcNode::Filter& filter : calc.filters) replace(replace, filter.condition);
    for (Expr& projection : calc.projections) replace(replace, projection);
  }

  const Draft& draft_;
  const FailAt& fail_;
  const std::vector<int> readers_;
  PlanBuilder builder_;
  std::vector<int> position_;  // of each old node among the new ones
};

}  // namespace

Result<Draft> MergeCalcs(const Draft& draft, const FailAt& fail) { return CalcMerger(draft, fail).Run(); }

}  // namespace caudal::sql
