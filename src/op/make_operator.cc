#include "op/make_operator.h"

#include "api/connector.h"
#include "op/aggregate.h"
#include "op/calc.h"
#include "op/deduplicate.h"
#include "op/union_all.h"
#include "op/values.h"
#include "op/windowed_aggregate.h"

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
  return {std::make_unique<WindowedAggregate>(node, input, output, std::move(accumulators), batch)};
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeOperator(const Plan& plan, int number) {
  const PlanNode& node = plan.nodes[static_cast<size_t>(number)];
  if (const auto* values = node.as<ValuesNode>()) return {std::make_unique<Values>(*values, node.schema)};
  if (node.inputs.empty()) return Status::Internal("plan node '" + node.id + "' has no input");
  const Schema& input = InputSchema(plan, node);
  if (const auto* calc = node.as<CalcNode>()) return {std::make_unique<Calc>(*calc, input, node.schema)};
  if (const auto* deduplicate = node.as<DeduplicateNode>()) {
    return {std::make_unique<Deduplicate>(*deduplicate, input, plan.batch)};
  }
  if (const auto* aggregate = node.as<AggregateNode>()) {
    ASSIGN_OR_RETURN(const int64_t ttl, StateTtl(plan));
    return MakeAggregate(*aggregate, input, node.schema, plan.batch, ttl);
  }
  if (node.as<UnionNode>() != nullptr) return {std::make_unique<UnionAll>()};
  return Status::Internal("plan node '" + node.id + "': " + std::string(node.label()) + " is no operator");
}

}  // namespace caudal
