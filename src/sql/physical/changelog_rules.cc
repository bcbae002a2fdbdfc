#include "sql/physical/changelog_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "expr/aggregate_function.h"
#include "sql/physical/upsert_keys.h"

namespace caudal::sql {
namespace {

constexpr ChangelogKinds kUpdateBefore(ChangelogKinds::kUB);
constexpr ChangelogKinds kUpdateAfter(ChangelogKinds::kUA);
constexpr ChangelogKinds kDelete(ChangelogKinds::kD);

ChangelogKinds Without(ChangelogKinds kinds, ChangelogKinds part) {
  return ChangelogKinds(static_cast<uint8_t>(kinds.bits() & ~part.bits()));
}

// "Aggregate 'features/group-by'": who makes the changes that somebody cannot take.
std::string NameOf(const PlanNode& node) { return fmt::format("{} '{}'", node.label(), node.id); }

// Whether the column is the time attribute, or was it before a window function made window_time the one.
bool IsRowTime(const std::vector<PlanNode>& nodes, const PlanNode& node, int column) {
  if (column == node.time_column) return true;
  if (node.inputs.empty()) return false;
  const PlanNode& input = nodes[static_cast<size_t>(node.inputs[0].node)];
  if (const CalcNode* calc = node.as<CalcNode>()) {
    const Expr& expr = calc->projections[static_cast<size_t>(column)];
    return expr.kind == Expr::Kind::kColumn && IsRowTime(nodes, input, expr.column);
  }
  return node.as<WindowNode>() && column < input.schema.size() && IsRowTime(nodes, input, column);
}

// How a column changes with the updates of one row.
enum class Direction { kAny, kConstant, kUp, kDown };

Direction DirectionOf(const std::vector<PlanNode>& nodes, const PlanNode& node, int column) {
  if (const CalcNode* calc = node.as<CalcNode>()) {
    const Expr& expr = calc->projections[static_cast<size_t>(column)];
    if (expr.kind != Expr::Kind::kColumn) return Direction::kAny;
    return DirectionOf(nodes, nodes[static_cast<size_t>(node.inputs[0].node)], expr.column);
  }
  const AggregateNode* aggregate = node.as<AggregateNode>();
  if (aggregate == nullptr || aggregate->windowed || aggregate->retracting) return Direction::kAny;
  const size_t index = static_cast<size_t>(column);
  if (index < aggregate->keys.size()) return Direction::kConstant;
  const std::string& name = aggregate->calls[index - aggregate->keys.size()].name;
  return name == "COUNT" || name == "MAX" ? Direction::kUp
         : name == "MIN"                  ? Direction::kDown
                                          : Direction::kAny;
}

// Whether an update of the input is of one row of the partition and never puts it lower: then the TopN can
// treat it as one step, as Flink's update-fast rank does.
bool OnlyRises(const std::vector<PlanNode>& nodes, const PlanNode& node, const TopNNode& top) {
  const PlanNode& input = nodes[static_cast<size_t>(node.inputs[0].node)];
  const bool keyed = std::ranges::any_of(input.upsert_keys, [&](const std::vector<int>& key) {
    return std::ranges::all_of(top.partition,
                               [&](int column) { return std::ranges::find(key, column) != key.end(); });
  });
  return keyed && std::ranges::all_of(top.order, [&](const SortKey& key) {
           const Direction direction = DirectionOf(nodes, input, key.column);
           if (direction == Direction::kConstant) return true;
           // A MIN or MAX that was NULL goes to a value and never back.
           const bool leaves_front = key.nulls_first && input.schema[key.column].type.nullable();
           return !leaves_front && direction == (key.ascending ? Direction::kDown : Direction::kUp);
         });
}

class ChangelogInference {
 public:
  ChangelogInference(const Draft& draft, const Catalog& catalog, bool rejects, const FailAt& fail)
      : draft_(draft), catalog_(catalog), rejects_(rejects), fail_(fail) {}

  Result<Draft> Run() {
    RETURN_IF_ERROR(InferAll());
    AddMaterialize();
    wants_before_.assign(draft_.nodes.size(), false);
    for (size_t i = draft_.nodes.size(); i-- > 0;) RETURN_IF_ERROR(PassDemand(i));
    for (size_t i = 0; i < draft_.nodes.size(); ++i) DropUnwanted(draft_.nodes[i], wants_before_[i]);
    return std::move(draft_);
  }

 private:
  const PlanNode& Input(const PlanNode& node, size_t k = 0) const {
    return draft_.nodes[static_cast<size_t>(node.inputs[k].node)];
  }

  // Forward: what each node can give, -U included.
  Status InferAll() {
    for (PlanNode& node : draft_.nodes) {
      ASSIGN_OR_RETURN(node.kinds, Infer(node));
      node.upsert_keys = FindUpsertKeys(draft_.nodes, node);
    }
    return Status();
  }

  Result<ChangelogKinds> Infer(PlanNode& node) {
    if (const ScanNode* scan = node.as<ScanNode>()) return InferScan(*scan, node);
    if (AggregateNode* aggregate = std::get_if<AggregateNode>(&node.payload))
      return InferAggregate(*aggregate, node);
    if (TopNNode* top = std::get_if<TopNNode>(&node.payload)) return InferTopN(*top, node);
    if (node.as<ValuesNode>()) return ChangelogKinds::InsertOnly();
    ChangelogKinds kinds = Input(node).kinds;
    for (size_t k = 1; k < node.inputs.size(); ++k) kinds = kinds | Input(node, k).kinds;
    if (node.as<DeduplicateNode>() && !kinds.insert_only()) {
      return fail_(node.position, fmt::format("DEDUPLICATE takes inserts only, and {} gives {}",
                                              NameOf(Input(node)), kinds.ToString()));
    }
    if (const LookupNode* lookup = node.as<LookupNode>(); lookup != nullptr && !kinds.insert_only()) {
      // The row that a change takes away may find something else than it found when it came.
      return fail_(node.position,
                   fmt::format("a lookup in '{}' of rows that change is not built yet, and {} gives {}",
                               lookup->table.name, NameOf(Changer(Input(node))), kinds.ToString()))
          .Hint("look up before the rows are grouped or ranked");
    }
    if (node.as<SortNode>()) return ChangelogKinds::InsertOnly();
    return kinds;
  }

  Result<ChangelogKinds> InferScan(const ScanNode& scan, const PlanNode& node) const {
    const Connector* connector = catalog_.FindConnector(scan.table.option("connector"));
    ASSIGN_OR_RETURN(ChangelogKinds kinds, connector->source_changelog(scan.table));
    if (kinds.contains(kUpdateAfter) && !kinds.contains(kUpdateBefore)) {
      return fail_(node.position,
                   fmt::format("reading table '{}', which gives updates without their old row, is not "
                               "built yet",
                               scan.table.name));
    }
    return kinds;
  }

  Result<ChangelogKinds> InferAggregate(AggregateNode& aggregate, const PlanNode& node) const {
    const PlanNode& input = Input(node);
    aggregate.retracting = !input.kinds.insert_only();
    if (aggregate.retracting) RETURN_IF_ERROR(CheckRetraction(aggregate, node));
    if (aggregate.retracting && aggregate.windowed && aggregate.window.is_session()) {
      return fail_(node.position, "sessions of a table whose rows change are not built yet");
    }
    if (aggregate.emit == AggregateNode::Emit::kOnEnd) return ChangelogKinds::InsertOnly();
    if (aggregate.windowed) {
      if (aggregate.early_fire_delay == 0) return ChangelogKinds::InsertOnly();
      return aggregate.retracting ? ChangelogKinds::All() : Without(ChangelogKinds::All(), kDelete);
    }
    if (aggregate.retracting) return ChangelogKinds::All();
    // Keys alone never change.
    if (aggregate.calls.empty()) return ChangelogKinds::InsertOnly();
    return Without(ChangelogKinds::All(), kDelete);
  }

  Status CheckRetraction(const AggregateNode& aggregate, const PlanNode& node) const {
    for (const AggregateCall& call : aggregate.calls) {
      std::vector<Type> types;
      for (int arg : call.args) types.push_back(Input(node).schema[arg].type);
      const Result<std::unique_ptr<Aggregator>> aggregator =
          call.function->bind(types, call.distinct, /*retracting=*/true);
      if (!aggregator.ok()) {
        const Status error = aggregator.status();
        return fail_(node.position, error.message()).Hint(error.hint());
      }
      if ((*aggregator)->can_retract()) continue;
      return fail_(node.position, fmt::format("{} cannot take rows away, and {} gives {}", call.name,
                                              NameOf(Input(node)), Input(node).kinds.ToString()));
    }
    return Status();
  }

  Result<ChangelogKinds> InferTopN(TopNNode& top, const PlanNode& node) const {
    const PlanNode& input = Input(node);
    top.retracting = !input.kinds.insert_only();
    const bool at_once = top.emit != TopNNode::Emit::kOnChange;
    const bool one = top.first == 1 && top.last == 1 && !top.retracting && top.order.size() == 1;
    const bool by_time = one && (top.order[0].column == input.time_column ||
                                 (at_once && IsRowTime(draft_.nodes, input, top.order[0].column)));
    top.rising = top.retracting && !at_once && OnlyRises(draft_.nodes, node, top);
    // By processing time the first row to come stays the first, and the last to come is the last. The times
    // say less: each source task stamps its own.
    const bool by_arrival = one && IsProcessingTime(draft_.nodes, input, top.order[0].column);
    top.by_arrival = by_arrival && !at_once;
    top.rowtime_first =
        by_time && top.order[0].ascending && !top.with_rank && top.emit != TopNNode::Emit::kOnWatermark;
    top.rowtime_last = (by_arrival || by_time) && !top.order[0].ascending;
    const bool first_stays = at_once || top.rowtime_first || (top.by_arrival && top.order[0].ascending);
    return first_stays ? ChangelogKinds::InsertOnly() : ChangelogKinds::All();
  }

  // A sink with a key wants one row a key; only an upsert key within it promises that.
  void AddMaterialize() {
    Draft result;
    std::vector<int> position;
    for (PlanNode& node : draft_.nodes) {
      for (PlanInput& input : node.inputs) input.node = position[static_cast<size_t>(input.node)];
      const SinkNode* sink = node.as<SinkNode>();
      if (sink != nullptr && !sink->key.empty()) {
        const PlanNode& input = result.nodes[static_cast<size_t>(node.inputs[0].node)];
        if (!input.kinds.insert_only() && !HasKeyWithin(input.upsert_keys, sink->key)) {
          PlanNode fold;
          fold.id = node.id.substr(0, node.id.rfind('/')) + "/materialize";
          fold.inputs.push_back(node.inputs[0]);
          fold.schema = input.schema;
          fold.kinds = ChangelogKinds::All();
          fold.upsert_keys = {sink->key};
          fold.position = node.position;
          fold.payload = MaterializeNode{sink->key, false};
          node.inputs[0].node = static_cast<int>(result.nodes.size());
          result.nodes.push_back(std::move(fold));
        }
      }
      position.push_back(static_cast<int>(result.nodes.size()));
      result.nodes.push_back(std::move(node));
    }
    for (int root : draft_.roots) result.roots.push_back(position[static_cast<size_t>(root)]);
    draft_ = std::move(result);
  }

  // Backward: who needs the old row of an update.
  Status PassDemand(size_t index) {
    const PlanNode& node = draft_.nodes[index];
    bool demand = wants_before_[index];
    if (const SinkNode* sink = node.as<SinkNode>()) {
      ASSIGN_OR_RETURN(demand, SinkDemand(*sink, node));
    } else if (IsRoot(index)) {
      wants_before_[index] = true;
      demand = true;
    }
    if (const CalcNode* calc = node.as<CalcNode>()) {
      // The new row may fail the filter that the old one passed, or be rejected: only the old row can take
      // that one away.
      demand = demand || !calc->filters.empty() || MayReject(*calc);
    } else if (node.as<AggregateNode>() || node.as<TopNNode>() || node.as<MaterializeNode>()) {
      demand = true;
    }
    for (const PlanInput& input : node.inputs) {
      if (demand) wants_before_[static_cast<size_t>(input.node)] = true;
    }
    return Status();
  }

  bool MayReject(const CalcNode& calc) const {
    return rejects_ && std::ranges::any_of(calc.projections, [](const Expr& projection) {
             return projection.kind == Expr::Kind::kCall;
           });
  }

  bool IsRoot(size_t index) const {
    return std::ranges::find(draft_.roots, static_cast<int>(index)) != draft_.roots.end();
  }

  Result<bool> SinkDemand(const SinkNode& sink, const PlanNode& node) const {
    const Connector* connector = catalog_.FindConnector(sink.table.option("connector"));
    Result<ChangelogKinds> accepts = connector->sink_changelog(sink.table);
    if (!accepts.ok()) return std::move(accepts).status();
    const ChangelogKinds given = Input(node).kinds;
    const bool updates = given.contains(kUpdateAfter) && !accepts->contains(kUpdateAfter);
    const bool deletes = given.contains(kDelete) && !accepts->contains(kDelete);
    if (updates || deletes) {
      Status status = fail_(node.position,
                            fmt::format("table '{}' takes {} only, and {} gives {}", sink.table.name,
                                        accepts->ToString(), NameOf(Changer(Input(node))), given.ToString()));
      return std::move(status).Hint(
          sink.table.primary_key.empty()
              ? "a table with a PRIMARY KEY, whose connector takes updates, can take them"
              : "choose a connector that takes updates");
    }
    return accepts->contains(kUpdateBefore) || MovesKeys(sink, Input(node));
  }

  // Whether an update may give a row another key of the sink, whose row of before must then be deleted.
  static bool MovesKeys(const SinkNode& sink, const PlanNode& input) {
    if (sink.key.empty() || input.kinds.insert_only()) return false;
    const std::set<int> wanted(sink.key.begin(), sink.key.end());
    return std::ranges::none_of(input.upsert_keys, [&](const std::vector<int>& key) {
      return std::set<int>(key.begin(), key.end()) == wanted;
    });
  }

  // The node that first made the changes.
  const PlanNode& Changer(const PlanNode& node) const {
    const PlanNode* at = &node;
    while (at->as<CalcNode>() || at->as<MaterializeNode>() || at->as<WindowNode>()) at = &Input(*at);
    return *at;
  }

  // Forward again: nodes stop giving -U that nobody wants.
  void DropUnwanted(PlanNode& node, bool wanted) {
    const bool makes = node.as<AggregateNode>() || node.as<TopNNode>() || node.as<MaterializeNode>();
    if (AggregateNode* aggregate = std::get_if<AggregateNode>(&node.payload))
      aggregate->update_before = wanted;
    if (TopNNode* top = std::get_if<TopNNode>(&node.payload)) top->update_before = wanted;
    if (MaterializeNode* materialize = std::get_if<MaterializeNode>(&node.payload))
      materialize->update_before = wanted;
    if (makes) {
      if (!wanted) node.kinds = Without(node.kinds, kUpdateBefore);
      return;
    }
    if (node.inputs.empty() || node.as<SortNode>()) return;
    ChangelogKinds kinds = Input(node).kinds;
    for (size_t k = 1; k < node.inputs.size(); ++k) kinds = kinds | Input(node, k).kinds;
    node.kinds = kinds;
  }

  Draft draft_;
  const Catalog& catalog_;
  const bool rejects_;
  const FailAt& fail_;
  std::vector<bool> wants_before_;
};

}  // namespace

bool IsProcessingTime(const std::vector<PlanNode>& nodes, const PlanNode& node, int column) {
  auto is_call = [](const Expr& expr) { return expr.kind == Expr::Kind::kCall && expr.name == "PROCTIME"; };
  if (const ScanNode* scan = node.as<ScanNode>()) {
    const TableColumn& source =
        scan->table.columns[static_cast<size_t>(scan->columns[static_cast<size_t>(column)])];
    return source.computed && is_call(*source.computed);
  }
  if (node.inputs.empty()) return false;
  const PlanNode& input = nodes[static_cast<size_t>(node.inputs[0].node)];
  if (const CalcNode* calc = node.as<CalcNode>()) {
    const Expr& expr = calc->projections[static_cast<size_t>(column)];
    return is_call(expr) || (expr.kind == Expr::Kind::kColumn && IsProcessingTime(nodes, input, expr.column));
  }
  const bool passes = node.as<WindowNode>() || node.as<DeduplicateNode>() || node.as<LookupNode>();
  return passes && column < input.schema.size() && IsProcessingTime(nodes, input, column);
}

Result<Draft> InferChangelog(const Draft& draft, const Catalog& catalog, bool rejects, const FailAt& fail) {
  return ChangelogInference(draft, catalog, rejects, fail).Run();
}

}  // namespace caudal::sql
