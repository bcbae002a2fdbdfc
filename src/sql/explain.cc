#include "sql/explain.h"

#include <fmt/format.h>

#include <limits>
#include <map>

namespace caudal::sql {
namespace {

// Milliseconds as "1 h", "5 min", "30 s", "250 ms".
std::string Duration(int64_t millis) {
  struct Unit {
    int64_t millis;
    std::string_view name;
  };
  constexpr Unit kUnits[] = {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "min"}, {1'000, "s"}};
  for (const Unit& unit : kUnits) {
    if (millis != 0 && millis % unit.millis == 0)
      return fmt::format("{} {}", millis / unit.millis, unit.name);
  }
  return fmt::format("{} ms", millis);
}

std::string Names(const Schema& schema, const std::vector<int>& columns) {
  std::string names;
  for (int column : columns) names += (names.empty() ? "" : ", ") + schema[column].name;
  return names;
}

std::string AllNames(const Schema& schema) {
  std::string names;
  for (const Field& field : schema.fields) names += (names.empty() ? "" : ", ") + field.name;
  return names;
}

std::string WindowText(const WindowSpec& window, const Schema& input) {
  const std::string& time = input[window.time_column].name;
  if (window.is_session())
    return fmt::format("SESSION(time_col=[{}], gap=[{}])", time, Duration(window.size));
  std::string text = window.size == window.slide
                         ? fmt::format("TUMBLE(time_col=[{}], size=[{}]", time, Duration(window.size))
                         : fmt::format("HOP(time_col=[{}], size=[{}], slide=[{}]", time,
                                       Duration(window.size), Duration(window.slide));
  if (window.offset != 0) text += fmt::format(", offset=[{}]", Duration(window.offset));
  return text + ")";
}

std::string OrderText(const std::vector<SortKey>& keys, const Schema& input) {
  std::string text;
  for (const SortKey& key : keys) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", input[key.column].name,
                        key.ascending ? "ASC" : "DESC");
    if (key.nulls_first != key.ascending) text += key.nulls_first ? " NULLS FIRST" : " NULLS LAST";
  }
  return text;
}

// The attributes of each kind of node, each as `, name=[value]`.
struct Attributes {
  const PlanNode& node;
  const Schema& input;

  std::string operator()(const ScanNode& scan) const {
    return fmt::format("table=[{}], fields=[{}]", scan.table.name, AllNames(node.schema));
  }
  std::string operator()(const ValuesNode& values) const {
    std::string rows;
    for (size_t i = 0; i < values.rows.size() && i < 10; ++i) {
      std::string row;
      for (const Expr& expr : values.rows[i]) row += (row.empty() ? "" : ", ") + expr.ToString();
      rows += fmt::format("{}({})", rows.empty() ? "" : ", ", row);
    }
    if (values.rows.size() > 10) rows += fmt::format(", … {} rows", values.rows.size());
    return fmt::format("rows=[{}]", rows);
  }
  std::string operator()(const CalcNode& calc) const {
    std::string select;
    for (size_t i = 0; i < calc.projections.size(); ++i) {
      const std::string text = calc.projections[i].ToString();
      const std::string& name = node.schema[static_cast<int>(i)].name;
      select += (select.empty() ? "" : ", ") + (text == name ? name : fmt::format("{} AS {}", text, name));
    }
    std::string where;
    for (const CalcNode::Filter& filter : calc.filters) {
      std::string condition = filter.condition.ToString();
      if (condition != filter.name && condition != "(" + filter.name + ")") {
        condition += " AS " + filter.name;
      } else if (filter.condition.name != "OR" || calc.filters.size() == 1) {
        condition = filter.name;
      }
      where += (where.empty() ? "" : " AND ") + condition;
    }
    return fmt::format("select=[{}]{}", select, where.empty() ? "" : fmt::format(", where=[{}]", where));
  }
  std::string operator()(const WindowNode& window) const {
    return fmt::format("window=[{}]", WindowText(window.window, input));
  }
  std::string operator()(const AggregateNode& aggregate) const {
    std::string text = fmt::format("groupBy=[{}]", Names(input, aggregate.keys));
    if (aggregate.windowed) text += fmt::format(", window=[{}]", WindowText(aggregate.window, input));
    text += fmt::format(", select=[{}]", AllNames(node.schema));
    if (aggregate.early_fire_delay > 0)
      text += fmt::format(", earlyFire=[{}]", Duration(aggregate.early_fire_delay));
    if (aggregate.newest_window) text += ", fire=[newest window of a key]";
    return text;
  }
  std::string operator()(const TopNNode& top) const {
    std::string text = fmt::format("rankRange=[{}, {}], partitionBy=[{}], orderBy=[{}]", top.first, top.last,
                                   Names(input, top.partition), OrderText(top.order, input));
    if (top.emit == TopNNode::Emit::kOnWatermark) text += ", emit=[end of window]";
    if (top.rowtime_first) text += ", keep=[FirstRow by row time]";
    if (top.rowtime_last)
      text += fmt::format(", keep=[LastRow by {}]", top.by_arrival ? "arrival" : "row time");
    if (top.by_arrival && !top.rowtime_last) text += ", keep=[FirstRow by arrival]";
    return text;
  }
  std::string operator()(const DeduplicateNode& deduplicate) const {
    return fmt::format("partitionBy=[{}], on_time=[{}], retain=[{}]", Names(input, deduplicate.keys),
                       input[deduplicate.time_column].name, Duration(deduplicate.retain));
  }
  std::string operator()(const MaterializeNode& materialize) const {
    return fmt::format("key=[{}]", Names(input, materialize.keys));
  }
  std::string operator()(const UnionNode&) const { return fmt::format("union=[{}]", AllNames(node.schema)); }
  std::string operator()(const SortNode& sort) const {
    std::string text = fmt::format("orderBy=[{}]", OrderText(sort.keys, input));
    if (sort.offset > 0) text += fmt::format(", offset=[{}]", sort.offset);
    if (sort.limit >= 0) text += fmt::format(", limit=[{}]", sort.limit);
    return text;
  }
  std::string operator()(const LookupNode& lookup) const {
    std::string keys, where;
    for (const LookupNode::Key& key : lookup.keys) {
      const std::string& column = lookup.table.columns[static_cast<size_t>(key.column)].name;
      keys += fmt::format("{}{}={}", keys.empty() ? "" : ", ", column, key.value.ToString());
    }
    for (const CalcNode::Filter& condition : lookup.conditions) {
      where += (where.empty() ? "" : " AND ") + condition.name;
    }
    return fmt::format("table=[{}], joinType=[{}], lookup=[{}]{}, select=[{}]", lookup.table.name,
                       lookup.keeps_unmatched ? "LeftOuterJoin" : "InnerJoin", keys,
                       where.empty() ? "" : fmt::format(", where=[{}]", where), AllNames(node.schema));
  }
  std::string operator()(const SinkNode& sink) const {
    std::string text = fmt::format("table=[{}], fields=[{}]", sink.table.name, AllNames(node.schema));
    if (!sink.key.empty()) text += fmt::format(", key=[{}]", Names(input, sink.key));
    return text;
  }
};

class TreePrinter {
 public:
  TreePrinter(const Plan& plan, bool changelog) : plan_(plan), changelog_(changelog) {
    for (const PlanNode& node : plan.nodes) {
      for (const PlanInput& input : node.inputs) ++readers_[input.node];
    }
  }

  std::string Print() {
    std::string text;
    for (size_t i = 0; i < plan_.nodes.size(); ++i) {
      if (readers_.contains(static_cast<int>(i))) continue;
      if (!text.empty()) text += '\n';
      PrintNode(static_cast<int>(i), "", "", text);
    }
    return text;
  }

 private:
  // `lead` stands before this line, `indent` before those below it.
  void PrintNode(int node, const std::string& lead, const std::string& indent, std::string& text) {
    const auto seen = numbers_.find(node);
    if (seen != numbers_.end()) {
      text += fmt::format("{}Reused(reference_id=[{}])\n", lead, seen->second);
      return;
    }
    std::string line = ExplainNode(plan_, node, changelog_);
    if (readers_.contains(node) && readers_.at(node) > 1) {
      const int number = static_cast<int>(numbers_.size()) + 1;
      numbers_[node] = number;
      line += fmt::format("(reuse_id=[{}])", number);
    }
    text += lead + line + "\n";
    const std::vector<PlanInput>& inputs = plan_.nodes[static_cast<size_t>(node)].inputs;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const bool last = k + 1 == inputs.size();
      std::string child_indent = indent + (last ? "   " : ":  ");
      std::string child_lead = indent + (last ? "+- " : ":- ");
      if (inputs[k].exchange.kind == Exchange::Kind::kHash) {
        const Schema& schema = plan_.nodes[static_cast<size_t>(inputs[k].node)].schema;
        const std::string keys = Names(schema, inputs[k].exchange.keys);
        text += fmt::format("{}Exchange(distribution=[{}])\n", child_lead,
                            keys.empty() ? "single" : fmt::format("hash[{}]", keys));
        child_lead = child_indent + "+- ";
        child_indent += "   ";
      }
      PrintNode(inputs[k].node, child_lead, child_indent, text);
    }
  }

  const Plan& plan_;
  const bool changelog_;
  std::map<int, int> readers_;
  std::map<int, int> numbers_;
};

}  // namespace

std::string ExplainNode(const Plan& plan, int node, bool changelog) {
  const PlanNode& which = plan.nodes[static_cast<size_t>(node)];
  static const Schema kNone;
  const Schema& input =
      which.inputs.empty() ? kNone : plan.nodes[static_cast<size_t>(which.inputs[0].node)].schema;
  std::string attributes = std::visit(Attributes{which, input}, which.payload);
  if (changelog) {
    attributes += fmt::format(", changelogMode={}", which.as<SinkNode>() ? "[NONE]" : which.kinds.ToString());
  }
  return fmt::format("{}({})", which.label(), attributes);
}

std::string ExplainPlan(const Plan& plan, bool changelog) { return TreePrinter(plan, changelog).Print(); }

}  // namespace caudal::sql
