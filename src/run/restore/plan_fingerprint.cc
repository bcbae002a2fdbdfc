#include "run/restore/plan_fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "run/restore/column_origin.h"

namespace caudal {
namespace {

class Describer {
 public:
  Describer(const Plan& plan, const PlanNode& node)
      : input_(node.inputs.empty() ? nullptr : &plan.nodes[static_cast<size_t>(node.inputs[0].node)]) {}

  std::string Column(int column) const {
    if (input_ == nullptr || column < 0) return "-";
    if (const CalcNode* calc = input_->as<CalcNode>()) {
      return calc->projections[static_cast<size_t>(column)].ToString();
    }
    return input_->schema[column].name;
  }
  std::string Columns(const std::vector<int>& columns) const {
    std::string text = "[";
    for (int column : columns) text += (text.size() > 1 ? ", " : "") + Column(column);
    return text + "]";
  }
  std::string Order(const std::vector<SortKey>& keys) const {
    std::string text = "[";
    for (const SortKey& key : keys) {
      text += fmt::format("{}{}{}{}", text.size() > 1 ? ", " : "", Column(key.column),
                          key.ascending ? "" : " DESC", key.nulls_first ? " NULLS FIRST" : " NULLS LAST");
    }
    return text + "]";
  }

  std::string operator()(const AggregateNode& node) const {
    std::string text = "keys=" + Columns(node.keys);
    for (const AggregateCall& call : node.calls) {
      text += fmt::format(" {}({}{}){}", call.name, call.distinct ? "DISTINCT " : "", Columns(call.args),
                          call.filter >= 0 ? " FILTER " + Column(call.filter) : "");
    }
    if (node.windowed) {
      text += fmt::format(" window=[{} by {} + {} of {}]", node.window.size, node.window.slide,
                          node.window.offset, Column(node.window.time_column));
    }
    return text + (node.retracting ? " retracting" : "");
  }
  std::string operator()(const TopNNode& node) const {
    return fmt::format("partition={} order={} rows={}..{}{}{}{}", Columns(node.partition), Order(node.order),
                       node.first, node.last, node.retracting ? " retracting" : "",
                       node.rowtime_first ? " first" : "", node.rowtime_last ? " last" : "");
  }
  std::string operator()(const DeduplicateNode& node) const {
    return fmt::format("keys={} time={} retain={}", Columns(node.keys), Column(node.time_column),
                       node.retain);
  }
  std::string operator()(const MaterializeNode& node) const { return "keys=" + Columns(node.keys); }
  std::string operator()(const SortNode& node) const {
    return fmt::format("order={} offset={} limit={}", Order(node.keys), node.offset, node.limit);
  }
  std::string operator()(const ScanNode& node) const {
    return "table=" + node.table.name + " connector=" + std::string(node.table.option("connector"));
  }
  std::string operator()(const SinkNode& node) const {
    return "table=" + node.table.name + " connector=" + std::string(node.table.option("connector"));
  }
  template <typename Other>
  std::string operator()(const Other&) const {
    return {};
  }

 private:
  const PlanNode* input_;
};

// Between what the first format recorded and where that comes from; in the second format the latter named no
// tables.
constexpr std::string_view kOriginMark = "; made from ";
constexpr std::string_view kFormerOriginMark = "; from ";

// What a fingerprint says beyond the node's own words: its columns, the conditions on its rows and the
// watermark, all down to the tables.
class OriginWriter {
 public:
  OriginWriter(const Plan& plan, bool names_tables) : plan_(plan), origin_(plan, names_tables) {}

  std::string Write(int index) {
    const PlanNode& node = plan_.nodes[static_cast<size_t>(index)];
    if (const ScanNode* scan = node.as<ScanNode>()) {
      return scan->table.watermark ? "watermark " + origin_.Watermarks(index) : "no watermark";
    }
    if (node.inputs.empty()) return "constants";
    input_ = node.inputs[0].node;
    columns_.clear();
    std::visit([this](const auto& payload) { Collect(payload); }, node.payload);
    if (keeps_whole_rows_) AddAll();
    std::sort(columns_.begin(), columns_.end());
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
    std::string text = "[";
    for (int column : columns_) text += (text.size() > 1 ? ", " : "") + origin_.Of(input_, column);
    text += "]";
    if (const std::string conditions = origin_.Conditions(index); !conditions.empty())
      text += " where " + conditions;
    if (timed_) text += " watermark " + origin_.Watermarks(index);
    return text;
  }

 private:
  void Reset(bool whole_rows, bool timed) {
    keeps_whole_rows_ = whole_rows;
    timed_ = timed;
  }
  void Add(const std::vector<int>& columns) {
    columns_.insert(columns_.end(), columns.begin(), columns.end());
  }
  void AddAll() {
    const Schema& schema = plan_.nodes[static_cast<size_t>(input_)].schema;
    for (int i = 0; i < schema.size(); ++i) {
      if (!schema[i].name.starts_with('$')) columns_.push_back(i);
    }
  }
  void Collect(const AggregateNode& node) {
    Reset(false, node.windowed);
    Add(node.keys);
    for (const AggregateCall& call : node.calls) {
      Add(call.args);
      if (call.filter >= 0) Add({call.filter});
    }
    if (node.windowed) Add({node.window.time_column});
  }
  void Collect(const DeduplicateNode& node) {
    Reset(false, true);
    Add(node.keys);
    Add({node.time_column});
  }
  void Collect(const TopNNode& node) {
    Reset(true, node.rowtime_first || node.emit == TopNNode::Emit::kOnWatermark);
  }
  template <typename Other>
  void Collect(const Other&) {
    Reset(true, false);
  }

  const Plan& plan_;
  ColumnOrigin origin_;
  int input_ = 0;
  std::vector<int> columns_;
  bool keeps_whole_rows_ = false;
  bool timed_ = false;
};

// A fingerprint in its two parts; the second is missing in checkpoints of the first format.
std::pair<std::string_view, std::string_view> Parts(std::string_view fingerprint, std::string_view mark) {
  const size_t at = fingerprint.find(mark);
  if (at == std::string_view::npos) return {fingerprint, {}};
  return {fingerprint.substr(0, at), fingerprint.substr(at + mark.size())};
}

// How a node's state differs by what its fingerprints say.
PlanDiff::Change Difference(const NodeState& was, const NodeState& is) {
  const bool former = was.fingerprint.find(kOriginMark) == std::string::npos;
  const std::string_view mark = former ? kFormerOriginMark : kOriginMark;
  const auto [was_node, was_origin] = Parts(was.fingerprint, mark);
  const auto [is_node, is_origin] = Parts(former ? is.former_fingerprint : is.fingerprint, mark);
  if (was_node != is_node) return PlanDiff::Change::kChanged;
  if (was_origin.empty() || is_origin.empty() || was_origin == is_origin) return PlanDiff::Change::kIdentical;
  // Sources and sinks keep no rows.
  return is.tables.empty() ? PlanDiff::Change::kStateless : PlanDiff::Change::kChanged;
}

bool IsEndpoint(const PlanNode& node) {
  return node.as<ScanNode>() != nullptr || node.as<SinkNode>() != nullptr || node.as<ValuesNode>() != nullptr;
}

}  // namespace

Result<std::vector<NodeState>> Fingerprints(const Plan& plan, const OperatorFactory& make_operator,
                                            const EvaluatorOptions& evaluator, Env* env) {
  std::vector<NodeState> states;
  OriginWriter origin(plan, true), former_origin(plan, false);
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    const PlanNode& node = plan.nodes[i];
    NodeState& state = states.emplace_back();
    state.id = node.id;
    state.label = node.label();
    if (!IsEndpoint(node)) {
      ASSIGN_OR_RETURN(std::unique_ptr<Operator> op, make_operator(plan, static_cast<int>(i)));
      MemoryBudget budget("plan", 0);
      FateCounters fates;
      OperatorContext context;
      context.env = env;
      context.budget = &budget;
      context.evaluator = evaluator;
      context.fates = &fates;
      Status status = op->Open(context);
      if (!status.ok()) return std::move(status).At("operator '" + node.id + "'");
      for (const StateTable* table : op->state()) {
        state.tables.push_back({std::string(table->name()), table->Fingerprint()});
      }
      if (state.tables.empty()) continue;
    }
    state.fingerprint = state.label + " " + std::visit(Describer(plan, node), node.payload);
    state.former_fingerprint = state.fingerprint;
    state.fingerprint.append(kOriginMark).append(origin.Write(static_cast<int>(i)));
    state.former_fingerprint.append(kFormerOriginMark).append(former_origin.Write(static_cast<int>(i)));
  }
  if (plan.dead_letter) {
    NodeState& state = states.emplace_back();
    state.id = "dead-letter";
    state.label = "Sink";
    state.fingerprint = state.former_fingerprint = "Sink table=" + plan.dead_letter->table.name;
  }
  return states;
}

PlanDiff Compare(const Manifest& checkpoint, const std::vector<NodeState>& plan) {
  PlanDiff diff;
  for (const NodeState& node : plan) {
    if (node.fingerprint.empty()) continue;
    const NodeState* old = checkpoint.Find(node.id);
    PlanDiff::Entry entry{node.id, PlanDiff::Change::kIdentical, {}, node.fingerprint};
    if (old == nullptr || old->fingerprint.empty()) {
      entry.change = PlanDiff::Change::kAdded;
    } else if (const PlanDiff::Change change = Difference(*old, node);
               change != PlanDiff::Change::kIdentical) {
      entry.change = change;
      entry.was = old->fingerprint;
    } else {
      for (const TableFingerprint& table : node.tables) {
        for (const TableFingerprint& was : old->tables) {
          if (was.table != table.table || was.fingerprint == table.fingerprint) continue;
          entry = {node.id, PlanDiff::Change::kChanged, was.fingerprint, table.fingerprint};
        }
      }
    }
    diff.entries.push_back(std::move(entry));
  }
  for (const NodeState& old : checkpoint.nodes) {
    if (old.fingerprint.empty()) continue;
    const bool kept = std::any_of(plan.begin(), plan.end(), [&](const NodeState& node) {
      return node.id == old.id && !node.fingerprint.empty();
    });
    if (!kept) diff.entries.push_back({old.id, PlanDiff::Change::kDropped, old.fingerprint, {}});
  }
  return diff;
}

Status PlanDiff::Check(const std::vector<std::string>& allow_dropped) const {
  for (const Entry& entry : entries) {
    if (entry.change == Change::kChanged) {
      return Status::User(fmt::format("'{}' has changed since the checkpoint: it was {}, it is {}", entry.id,
                                      entry.was, entry.is))
          .Hint(
              "run the new query from nothing, into empty targets: SET 'pipeline.name' to a new one, or "
              "another "
              "--state folder");
    }
    if (entry.change != Change::kDropped) continue;
    const bool allowed = std::any_of(allow_dropped.begin(), allow_dropped.end(),
                                     [&](const std::string& id) { return id == "*" || id == entry.id; });
    if (allowed) continue;
    return Status::User(fmt::format("the checkpoint holds '{}' ({}), which the query no longer has", entry.id,
                                    entry.was))
        .Hint("start with --allow-dropped '" + entry.id +
              "' to let it go, or run from nothing: SET 'pipeline.name' to a new one, or another --state "
              "folder");
  }
  return Status();
}

}  // namespace caudal
