#include "op/make_operator.h"

#include "api/connector.h"
#include "op/aggregate.h"
#include "op/calc.h"
#include "op/deduplicate.h"
#include "op/first_row.h"
#include "op/lookup/lookup.h"
#include "op/materialize.h"
#include "op/session_aggregate.h"
#include "op/sort.h"
#include "op/topn.h"
#include "op/union_all.h"
#include "op/window.h"
#include "op/windowed_aggregate.h"
#include "op/windowed_topn.h"

namespace caudal {
namespace {

const Schema& InputSchema(const Plan& plan, const PlanNode& node) {
  return plan.nodes[static_cast<size_t>(node.inputs[0].node)].schema;
}

// How long state that is not touched is kept, in ms; 0 = for ever, also in batch.
Result<int64_t> StateTtl(const Plan& plan) {
  const std::string_view ttl = plan.setting("table.exec.state.ttl", "0 ms");
  if (plan.batch) return int64_t{0};
  return ParseDurationMillis(ttl);
}

Result<std::unique_ptr<Operator>> MakeAggregate(const AggregateNode& node, const Schema& input,
                                                const Schema& output, bool batch, int64_t ttl) {
  ASSIGN_OR_RETURN(std::unique_ptr<AccumulatorRow> accumulators,
                   AccumulatorRow::Make(node.calls, input, node.retracting));
  if (!node.windowed) {
    return {std::make_unique<Aggregate>(node, input, output, std::move(accumulators), ttl)};
  }
  if (node.window.is_session()) {
    return {std::make_unique<SessionAggregate>(node, input, output, std::move(accumulators), batch)};
  }
  return {std::make_unique<WindowedAggregate>(node, input, output, std::move(accumulators), batch)};
}

Result<std::unique_ptr<Operator>> MakeTopN(const TopNNode& node, const Schema& input, const Schema& output,
                                           bool batch, int64_t ttl) {
  if (node.rowtime_first) return {std::make_unique<FirstRow>(node, input, output, batch, ttl)};
  if (node.emit != TopNNode::Emit::kOnChange) return {std::make_unique<WindowedTopN>(node, input, output)};
  return {std::make_unique<TopN>(node, input, output, ttl)};
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeOperator(const Plan& plan, int number) {
  const PlanNode& node = plan.nodes[static_cast<size_t>(number)];
  const Schema& output = node.schema;
  if (node.inputs.empty()) return Status::Internal("plan node '" + node.id + "' has no input");
  const Schema& input = InputSchema(plan, node);
  ASSIGN_OR_RETURN(const int64_t ttl, StateTtl(plan));

  if (const auto* calc = node.as<CalcNode>()) return {std::make_unique<Calc>(*calc, input, output)};
  if (const auto* window = node.as<WindowNode>()) return {std::make_unique<Window>(*window, input, output)};
  if (const auto* aggregate = node.as<AggregateNode>()) {
    return MakeAggregate(*aggregate, input, output, plan.batch, ttl);
  }
  if (const auto* topn = node.as<TopNNode>()) return MakeTopN(*topn, input, output, plan.batch, ttl);
  if (const auto* deduplicate = node.as<DeduplicateNode>()) {
    return {std::make_unique<Deduplicate>(*deduplicate, input, plan.batch)};
  }
  if (const auto* materialize = node.as<MaterializeNode>()) {
    return {std::make_unique<Materialize>(*materialize, input, output, ttl)};
  }
  if (node.as<UnionNode>() != nullptr) return {std::make_unique<UnionAll>()};
  if (const auto* lookup = node.as<LookupNode>()) return {std::make_unique<Lookup>(*lookup, input, output)};
  if (const auto* sort = node.as<SortNode>()) return {std::make_unique<Sort>(*sort, input, output)};
  return Status::Internal("plan node '" + node.id + "': " + std::string(node.label()) + " is no operator");
}

}  // namespace caudal
