#include "sql/physical/prune_columns.h"

#include <algorithm>

#include "sql/physical/plan_builder.h"
#include "sql/physical/substitute.h"

namespace caudal::sql {
namespace {

using Columns = std::vector<bool>;

void SetAll(Columns& columns) { columns.assign(columns.size(), true); }
bool None(const Columns& columns) { return std::find(columns.begin(), columns.end(), true) == columns.end(); }

// Marks, from the roots down, what each node must give.
class RequiredColumns {
 public:
  explicit RequiredColumns(const Draft& draft) : draft_(draft) {
    for (const PlanNode& node : draft.nodes) required_.emplace_back(node.schema.fields.size(), false);
    for (int root : draft.roots) SetAll(required_[static_cast<size_t>(root)]);
    for (size_t i = draft.nodes.size(); i-- > 0;) Mark(i);
  }

  std::vector<Columns> Take() { return std::move(required_); }

 private:
  void Mark(size_t index) {
    const PlanNode& node = draft_.nodes[index];
    const Columns& wanted = required_[index];
    if (const CalcNode* calc = node.as<CalcNode>()) {
      for (const CalcNode::Filter& filter : calc->filters) Require(node, filter.condition);
      for (size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i]) Require(node, calc->projections[i]);
      }
    } else if (const AggregateNode* aggregate = node.as<AggregateNode>()) {
      Require(node, aggregate->keys);
      if (aggregate->windowed) Require(node, {aggregate->window.time_column});
      for (size_t i = 0; i < aggregate->calls.size(); ++i) {
        if (!wanted[aggregate->keys.size() + i]) continue;
        Require(node, aggregate->calls[i].args);
        if (aggregate->calls[i].filter >= 0) Require(node, {aggregate->calls[i].filter});
      }
    } else if (node.as<SinkNode>() != nullptr) {
      SetAll(Input(node, 0));
    } else {
      MarkPassing(node, wanted);
    }
  }

  // Nodes whose output begins with the columns of their input.
  void MarkPassing(const PlanNode& node, const Columns& wanted) {
    // A Union of no columns would lose its rows.
    if (node.as<UnionNode>() != nullptr && None(wanted))
      required_[static_cast<size_t>(&node - draft_.nodes.data())][0] = true;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      Columns& input = Input(node, k);
      for (size_t i = 0; i < input.size(); ++i) input[i] = input[i] || wanted[i];
    }
    if (const WindowNode* window = node.as<WindowNode>()) Require(node, {window->window.time_column});
    if (const TopNNode* top = node.as<TopNNode>()) {
      Require(node, top->partition);
      for (const SortKey& key : top->order) Require(node, {key.column});
    }
    if (const DeduplicateNode* deduplicate = node.as<DeduplicateNode>()) {
      Require(node, deduplicate->keys);
      Require(node, {deduplicate->time_column});
    }
    if (const LookupNode* lookup = node.as<LookupNode>()) MarkLookup(*lookup, node);
    if (const SortNode* sort = node.as<SortNode>()) {
      for (const SortKey& key : sort->keys) Require(node, {key.column});
    }
  }

  // A condition needs columns of the output that are looked up, too.
  void MarkLookup(const LookupNode& lookup, const PlanNode& node) {
    for (const LookupNode::Key& key : lookup.keys) Require(node, key.value);
    Columns& own = required_[static_cast<size_t>(&node - draft_.nodes.data())];
    const size_t inputs = Input(node, 0).size();
    for (const CalcNode::Filter& condition : lookup.conditions) {
      VisitColumns(condition.condition, [&](const Expr& column) {
        const size_t at = static_cast<size_t>(column.column);
        (at < inputs ? Input(node, 0) : own)[at] = true;
      });
    }
  }

  Columns& Input(const PlanNode& node, size_t k) {
    return required_[static_cast<size_t>(node.inputs[k].node)];
  }
  void Require(const PlanNode& node, const std::vector<int>& columns) {
    for (int column : columns) Input(node, 0)[static_cast<size_t>(column)] = true;
  }
  void Require(const PlanNode& node, const Expr& expr) {
    VisitColumns(expr,
                 [&](const Expr& column) { Input(node, 0)[static_cast<size_t>(column.column)] = true; });
  }

  const Draft& draft_;
  std::vector<Columns> required_;
};

// Builds the nodes again without the columns that are not required.
class Pruner {
 public:
  explicit Pruner(const Draft& draft) : draft_(draft), required_(RequiredColumns(draft).Take()) {}

  Draft Run() {
    for (size_t i = 0; i < draft_.nodes.size(); ++i) {
      map_.emplace_back(draft_.nodes[i].schema.fields.size(), -1);
      position_.push_back(-1);
      position_.back() = Rebuild(i);
    }
    Draft result;
    for (int root : draft_.roots) result.roots.push_back(position_[static_cast<size_t>(root)]);
    result.nodes = builder_.Take();
    return RemoveUnused(result);
  }

 private:
  int Rebuild(size_t index) {
    PlanNode node = draft_.nodes[index];
    old_input_ = node.inputs.empty() ? -1 : node.inputs[0].node;
    for (PlanInput& input : node.inputs) input.node = position_[static_cast<size_t>(input.node)];
    if (node.as<ScanNode>()) return RebuildScan(std::move(node), index);
    if (node.as<CalcNode>()) return RebuildCalc(std::move(node), index);
    if (node.as<AggregateNode>()) return RebuildAggregate(std::move(node), index);
    if (node.as<LookupNode>()) return RebuildLookup(std::move(node), index);
    if (node.as<ValuesNode>() || node.as<SinkNode>()) {
      for (size_t i = 0; i < map_[index].size(); ++i) map_[index][i] = static_cast<int>(i);
      return builder_.Add(std::move(node));
    }
    return RebuildPassing(std::move(node), index);
  }

  int NewColumn(int old) const { return map_[static_cast<size_t>(old_input_)][static_cast<size_t>(old)]; }
  void Remap(std::vector<int>& columns) const {
    for (int& column : columns) column = NewColumn(column);
  }
  void Remap(Expr& expr) const { Remap(expr, map_[static_cast<size_t>(old_input_)]); }
  static void Remap(Expr& expr, const std::vector<int>& map) {
    if (expr.kind == Expr::Kind::kColumn) expr.column = map[static_cast<size_t>(expr.column)];
    for (Expr& arg : expr.args) Remap(arg, map);
  }

  // Keeps the fields for which `keep` holds and notes where they are now.
  template <typename Keep>
  void KeepFields(PlanNode& node, size_t index, Keep keep) {
    Schema schema;
    int time = -1;
    for (size_t i = 0; i < node.schema.fields.size(); ++i) {
      if (!keep(i)) continue;
      map_[index][i] = schema.size();
      if (node.time_column == static_cast<int>(i)) time = schema.size();
      schema.fields.push_back(node.schema.fields[i]);
    }
    node.schema = std::move(schema);
    node.time_column = time;
  }

  int RebuildScan(PlanNode node, size_t index) {
    ScanNode& scan = std::get<ScanNode>(node.payload);
    auto must_check = [&](size_t i) {
      const TableColumn& column = scan.table.columns[static_cast<size_t>(scan.columns[i])];
      return column.kind == TableColumn::Kind::kPhysical && !column.type.nullable();
    };
    Columns keep = required_[index];
    for (size_t i = 0; i < keep.size(); ++i) keep[i] = keep[i] || must_check(i);
    if (None(keep) && !keep.empty()) keep[0] = true;  // rows need a column to be counted by
    std::vector<int> columns;
    for (size_t i = 0; i < keep.size(); ++i) {
      if (keep[i]) columns.push_back(scan.columns[i]);
    }
    KeepFields(node, index, [&](size_t i) { return keep[i]; });
    scan.columns = std::move(columns);
    return builder_.Add(std::move(node));
  }

  int RebuildCalc(PlanNode node, size_t index) {
    CalcNode& calc = std::get<CalcNode>(node.payload);
    Columns keep = required_[index];
    if (None(keep) && !keep.empty()) keep[0] = true;
    for (CalcNode::Filter& filter : calc.filters) Remap(filter.condition);
    std::vector<Expr> projections;
    for (size_t i = 0; i < keep.size(); ++i) {
      if (!keep[i]) continue;
      // A column kept only because there must be one may read a column that is gone.
      Expr projection = required_[index][i] ? calc.projections[i]
                                            : Expr::Literal(Type(TypeId::kInt, false), Value(int64_t{0}));
      Remap(projection);
      node.schema.fields[i].type = projection.type;
      projections.push_back(std::move(projection));
    }
    KeepFields(node, index, [&](size_t i) { return keep[i]; });
    calc.projections = std::move(projections);
    return builder_.Add(std::move(node));
  }

  int RebuildAggregate(PlanNode node, size_t index) {
    AggregateNode& aggregate = std::get<AggregateNode>(node.payload);
    const size_t keys = aggregate.keys.size();
    const size_t calls = aggregate.calls.size();
    const Columns& wanted = required_[index];
    auto keep = [&](size_t i) { return i < keys || i >= keys + calls || wanted[i]; };
    std::vector<AggregateCall> kept;
    for (size_t i = 0; i < calls; ++i) {
      if (!wanted[keys + i]) continue;
      AggregateCall call = aggregate.calls[i];
      Remap(call.args);
      if (call.filter >= 0) call.filter = NewColumn(call.filter);
      kept.push_back(std::move(call));
    }
    Remap(aggregate.keys);
    if (aggregate.windowed) aggregate.window.time_column = NewColumn(aggregate.window.time_column);
    aggregate.calls = std::move(kept);
    KeepFields(node, index, keep);
    return builder_.Add(std::move(node));
  }

  // All columns that its input kept, and those looked up that somebody needs.
  int RebuildLookup(PlanNode node, size_t index) {
    LookupNode& lookup = std::get<LookupNode>(node.payload);
    const size_t inputs = map_[static_cast<size_t>(old_input_)].size();
    KeepFields(node, index, [&](size_t i) {
      return i < inputs ? NewColumn(static_cast<int>(i)) >= 0 : required_[index][i];
    });
    for (LookupNode::Key& key : lookup.keys) Remap(key.value);
    for (CalcNode::Filter& condition : lookup.conditions) Remap(condition.condition, map_[index]);
    std::vector<int> columns;
    for (size_t i = 0; i < lookup.columns.size(); ++i) {
      if (required_[index][inputs + i]) columns.push_back(lookup.columns[i]);
    }
    lookup.columns = std::move(columns);
    return builder_.Add(std::move(node));
  }

  // Window, TopN, Deduplicate, Union, Sort: the input's columns, perhaps with others behind.
  int RebuildPassing(PlanNode node, size_t index) {
    const std::vector<PlanInput> old_inputs = draft_.nodes[index].inputs;
    const bool narrow = node.as<WindowNode>() == nullptr;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      if (narrow) node.inputs[k].node = Narrow(node, index, old_inputs[k].node);
    }
    // After narrowing, the columns that the input kept stand in their old order without gaps.
    const Columns& asked = required_[static_cast<size_t>(old_input_)];
    std::vector<int> now(asked.size(), -1);
    int next = 0;
    for (size_t i = 0; i < asked.size(); ++i) {
      if (narrow ? InputColumn(node, index, i) : NewColumn(static_cast<int>(i)) >= 0) now[i] = next++;
    }
    auto column = [&](int old) { return now[static_cast<size_t>(old)]; };
    KeepFields(node, index, [&](size_t i) { return i >= now.size() || now[i] >= 0; });
    if (WindowNode* window = std::get_if<WindowNode>(&node.payload)) {
      window->window.time_column = column(window->window.time_column);
    } else if (TopNNode* top = std::get_if<TopNNode>(&node.payload)) {
      for (int& key : top->partition) key = column(key);
      for (SortKey& key : top->order) key.column = column(key.column);
      if (top->emit == TopNNode::Emit::kOnWatermark)
        top->window.time_column = column(top->window.time_column);
    } else if (DeduplicateNode* deduplicate = std::get_if<DeduplicateNode>(&node.payload)) {
      for (int& key : deduplicate->keys) key = column(key);
      deduplicate->time_column = column(deduplicate->time_column);
    } else if (SortNode* sort = std::get_if<SortNode>(&node.payload)) {
      for (SortKey& key : sort->keys) key.column = column(key.column);
    }
    return builder_.Add(std::move(node));
  }

  // Whether the node needs column `i` of its input: for itself or for its readers.
  bool InputColumn(const PlanNode& node, size_t index, size_t i) const {
    if (required_[index][i]) return true;
    const PlanPayload& payload = draft_.nodes[index].payload;
    const int column = static_cast<int>(i);
    auto in_order = [&](const std::vector<SortKey>& order) {
      return std::ranges::find(order, column, &SortKey::column) != order.end();
    };
    if (const TopNNode* top = std::get_if<TopNNode>(&payload)) {
      return std::ranges::find(top->partition, column) != top->partition.end() || in_order(top->order);
    }
    if (const DeduplicateNode* deduplicate = std::get_if<DeduplicateNode>(&payload)) {
      return std::ranges::find(deduplicate->keys, column) != deduplicate->keys.end() ||
             deduplicate->time_column == column;
    }
    if (const SortNode* sort = std::get_if<SortNode>(&payload)) return in_order(sort->keys);
    return false;
  }

  int Narrow(const PlanNode& node, size_t index, int old_input) {
    const std::vector<int>& map = map_[static_cast<size_t>(old_input)];
    const int input = position_[static_cast<size_t>(old_input)];
    const Schema& schema = builder_.node(input).schema;
    std::vector<Projection> projections;
    for (size_t i = 0; i < map.size(); ++i) {
      if (!InputColumn(node, index, i) || map[i] < 0) continue;
      const Field& field = schema[map[i]];
      projections.push_back({Expr::Column(map[i], field.name, field.type), field.name});
    }
    if (static_cast<int>(projections.size()) == schema.size()) return input;
    const std::string& id = node.id;
    return builder_.AddCalc(id.substr(0, id.find('/')) + "/calc", input, {}, std::move(projections),
                            node.position);
  }

  const Draft& draft_;
  const std::vector<Columns> required_;
  PlanBuilder builder_;
  std::vector<std::vector<int>> map_;  // of each old node's columns to the new one's
  std::vector<int> position_;
  int old_input_ = -1;
};

}  // namespace

Draft PruneColumns(const Draft& draft) { return Pruner(draft).Run(); }

}  // namespace caudal::sql
