#include "sql/physical/plan_builder.h"

#include <algorithm>

#include "sql/physical/same_payload.h"

namespace caudal::sql {

PlanNode PlanBuilder::Begin(std::string id, std::vector<int> inputs, const SqlPosition& position) const {
  PlanNode node;
  node.id = std::move(id);
  for (int input : inputs) node.inputs.push_back({input, {}});
  node.position = position;
  return node;
}

int PlanBuilder::Add(PlanNode node) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const PlanNode& other = nodes_[i];
    // Sinks are effects, never shared.
    if (node.as<SinkNode>() || other.payload.index() != node.payload.index()) continue;
    const bool same_inputs =
        std::ranges::equal(node.inputs, other.inputs, {}, &PlanInput::node, &PlanInput::node);
    if (same_inputs && node.schema == other.schema && node.time_column == other.time_column &&
        SamePayload(node.payload, other.payload)) {
      return static_cast<int>(i);
    }
  }
  nodes_.push_back(std::move(node));
  return static_cast<int>(nodes_.size()) - 1;
}

int PlanBuilder::AddScan(std::string id, Table table, std::vector<int> columns, const SqlPosition& position) {
  PlanNode node = Begin(std::move(id), {}, position);
  for (size_t i = 0; i < columns.size(); ++i) {
    const TableColumn& column = table.columns[static_cast<size_t>(columns[i])];
    node.schema.fields.push_back({column.name, column.type});
    if (table.watermark && table.watermark->column == columns[i]) node.time_column = static_cast<int>(i);
  }
  node.payload = ScanNode{std::move(table), std::move(columns)};
  return Add(std::move(node));
}

int PlanBuilder::AddCalc(std::string id, int input, std::vector<CalcNode::Filter> filters,
                         std::vector<Projection> projections, const SqlPosition& position,
                         int time_projection) {
  PlanNode node = Begin(std::move(id), {input}, position);
  const int input_time = this->node(input).time_column;
  CalcNode calc;
  calc.filters = std::move(filters);
  for (size_t i = 0; i < projections.size(); ++i) {
    const Expr& expr = projections[i].expr;
    node.schema.fields.push_back({std::move(projections[i].name), expr.type});
    const bool is_time = input_time >= 0 && expr.kind == Expr::Kind::kColumn && expr.column == input_time;
    if (is_time && node.time_column < 0) node.time_column = static_cast<int>(i);
    calc.projections.push_back(std::move(projections[i].expr));
  }
  if (time_projection >= 0) node.time_column = time_projection;
  node.payload = std::move(calc);
  return Add(std::move(node));
}

std::vector<Field> WindowFields(const WindowSpec& window, const Schema& input) {
  const Type bound = Type::Timestamp(3).WithNullable(false);
  const Type& time = input[window.time_column].type;
  const Type attribute =
      time.id() == TypeId::kTimestampLtz ? Type::TimestampLtz(3).WithNullable(false) : bound;
  return {{"window_start", bound}, {"window_end", bound}, {"window_time", attribute}};
}

int PlanBuilder::AddWindow(std::string id, int input, WindowSpec window, const SqlPosition& position) {
  PlanNode node = Begin(std::move(id), {input}, position);
  node.schema = this->node(input).schema;
  for (Field& field : WindowFields(window, node.schema)) node.schema.fields.push_back(std::move(field));
  node.time_column = node.schema.size() - 1;
  node.payload = WindowNode{window};
  return Add(std::move(node));
}

Schema AggregateSchema(const AggregateNode& aggregate, const Schema& input,
                       const std::vector<std::string>& call_names) {
  Schema schema;
  for (int key : aggregate.keys) schema.fields.push_back(input[key]);
  for (size_t i = 0; i < aggregate.calls.size(); ++i) {
    schema.fields.push_back({call_names[i], aggregate.calls[i].result});
  }
  for (AggregateNode::WindowColumn column : aggregate.window_columns) {
    schema.fields.push_back(WindowFields(aggregate.window, input)[static_cast<size_t>(column)]);
  }
  return schema;
}

int AggregateTimeColumn(const AggregateNode& aggregate) {
  for (size_t i = 0; i < aggregate.window_columns.size(); ++i) {
    if (aggregate.window_columns[i] == AggregateNode::WindowColumn::kTime) {
      return static_cast<int>(aggregate.keys.size() + aggregate.calls.size() + i);
    }
  }
  return -1;
}

int PlanBuilder::AddAggregate(std::string id, int input, AggregateNode aggregate,
                              std::vector<std::string> call_names, const SqlPosition& position) {
  PlanNode node = Begin(std::move(id), {input}, position);
  node.schema = AggregateSchema(aggregate, this->node(input).schema, call_names);
  node.time_column = AggregateTimeColumn(aggregate);
  node.payload = std::move(aggregate);
  return Add(std::move(node));
}

int PlanBuilder::AddTopN(std::string id, int input, TopNNode top, std::string rank_name,
                         const SqlPosition& position) {
  PlanNode node = Begin(std::move(id), {input}, position);
  node.schema = this->node(input).schema;
  node.time_column = this->node(input).time_column;
  if (top.with_rank) {
    node.schema.fields.push_back({std::move(rank_name), Type(TypeId::kBigInt, /*nullable=*/false)});
  }
  node.payload = std::move(top);
  return Add(std::move(node));
}

int PlanBuilder::AddDeduplicate(std::string id, int input, DeduplicateNode deduplicate,
                                const SqlPosition& position) {
  PlanNode node = Begin(std::move(id), {input}, position);
  node.schema = this->node(input).schema;
  node.time_column = deduplicate.time_column;
  node.payload = std::move(deduplicate);
  return Add(std::move(node));
}

int PlanBuilder::AddUnion(std::string id, std::vector<int> inputs, const SqlPosition& position) {
  PlanNode node = Begin(std::move(id), inputs, position);
  node.schema = this->node(inputs.front()).schema;
  node.time_column = this->node(inputs.front()).time_column;
  for (int input : inputs) {
    if (this->node(input).time_column != node.time_column) node.time_column = -1;
    // A column is nullable if it is so in one of the inputs.
    for (size_t i = 0; i < node.schema.fields.size(); ++i) {
      Type& type = node.schema.fields[i].type;
      if (this->node(input).schema.fields[i].type.nullable()) type = type.WithNullable(true);
    }
  }
  node.payload = UnionNode{};
  return Add(std::move(node));
}

int PlanBuilder::AddLookup(std::string id, int input, LookupNode lookup, const SqlPosition& position) {
  PlanNode node = Begin(std::move(id), {input}, position);
  node.schema = this->node(input).schema;
  node.time_column = this->node(input).time_column;
  for (const int column : lookup.columns) {
    const TableColumn& source = lookup.table.columns[static_cast<size_t>(column)];
    std::string name = source.name;
    for (int i = 0; node.schema.Find(name).has_value(); ++i) name = source.name + std::to_string(i);
    const bool nullable = lookup.keeps_unmatched || source.type.nullable();
    node.schema.fields.push_back({std::move(name), source.type.WithNullable(nullable)});
  }
  node.payload = std::move(lookup);
  return Add(std::move(node));
}

int PlanBuilder::AddSort(std::string id, int input, SortNode sort, const SqlPosition& position) {
  PlanNode node = Begin(std::move(id), {input}, position);
  node.schema = this->node(input).schema;
  node.time_column = this->node(input).time_column;
  node.payload = std::move(sort);
  return Add(std::move(node));
}

int PlanBuilder::AddSink(std::string id, int input, SinkNode sink, const SqlPosition& position) {
  PlanNode node = Begin(std::move(id), {input}, position);
  node.schema = this->node(input).schema;
  node.payload = std::move(sink);
  return Add(std::move(node));
}

}  // namespace caudal::sql
