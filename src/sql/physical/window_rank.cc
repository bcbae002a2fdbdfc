#include "sql/physical/window_rank.h"

#include "sql/physical/plan_builder.h"

namespace caudal::sql {
namespace {

std::string Clause(const std::string& id, std::string_view clause) {
  return id.substr(0, id.find('/')) + std::string(clause);
}

// The TopN, its Aggregate, and a Calc that gives the columns that the TopN had. Returns the last.
int Expand(PlanBuilder& builder, PlanNode node) {
  const Schema wanted = node.schema;
  const int time_column = node.time_column;
  const std::string id = node.id;
  const int32_t position = node.position;
  TopNNode& top = std::get<TopNNode>(node.payload);
  AggregateNode over;
  over.windowed = true;
  over.window = top.window;
  over.emit = AggregateNode::Emit::kOnWatermark;
  top.windowed = false;
  top.window = {};
  // The row number keeps equal rows apart.
  if (!top.with_rank) {
    top.with_rank = true;
    node.schema.fields.push_back({"row_number$", Type(TypeId::kBigInt, /*nullable=*/false)});
  }
  for (int i = 0; i < node.schema.size(); ++i) over.keys.push_back(i);
  const int ranked = builder.Add(std::move(node));
  const int closed = builder.AddAggregate(Clause(id, "/window-rank"), ranked, std::move(over), {}, position);
  std::vector<Projection> projections;
  for (int i = 0; i < wanted.size(); ++i)
    projections.push_back({Expr::Column(i, wanted[i].name, wanted[i].type), wanted[i].name});
  return builder.AddCalc(Clause(id, "/calc"), closed, {}, std::move(projections), position, time_column);
}

}  // namespace

Draft ExpandWindowRanks(const Draft& draft) {
  PlanBuilder builder;
  std::vector<int> position;
  for (PlanNode node : draft.nodes) {
    for (PlanInput& input : node.inputs) input.node = position[static_cast<size_t>(input.node)];
    const TopNNode* top = node.as<TopNNode>();
    const bool expand = top != nullptr && top->windowed;
    position.push_back(expand ? Expand(builder, std::move(node)) : builder.Add(std::move(node)));
  }
  Draft result;
  for (int root : draft.roots) result.roots.push_back(position[static_cast<size_t>(root)]);
  result.nodes = builder.Take();
  return result;
}

}  // namespace caudal::sql
