#include "run/restore/column_origin.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/row_key.h"

namespace caudal {
namespace {

constexpr size_t kLongest = 400;  // bytes of a text that is not cut

std::string Cut(std::string text) {
  if (text.size() <= kLongest) return text;
  return fmt::format("#{:016x}", RowKeys::Hash(text));
}

// In one order, whatever the order in the SQL text.
std::string Joined(std::vector<std::string> parts, std::string_view between) {
  std::sort(parts.begin(), parts.end());
  std::string text;
  for (const std::string& part : parts) text.append(text.empty() ? "" : between).append(part);
  return text;
}

// The expression with each column under the name that `name_of` gives it.
template <typename NameOf>
Expr Renamed(const Expr& expr, const NameOf& name_of) {
  Expr result = expr;
  if (expr.kind == Expr::Kind::kColumn) result.name = name_of(expr.column);
  for (Expr& arg : result.args) arg = Renamed(arg, name_of);
  return result;
}

int VisibleColumns(const Schema& schema) {
  int count = schema.size();
  while (count > 0 && schema[count - 1].name.starts_with('$')) --count;
  return count;
}

bool KeepsRows(const PlanNode& node) {
  return node.as<AggregateNode>() || node.as<TopNNode>() || node.as<DeduplicateNode>() ||
         node.as<MaterializeNode>() || node.as<SortNode>();
}

}  // namespace

const std::string& ColumnOrigin::Of(int node, int column) {
  const auto [found, inserted] = known_.try_emplace({node, column});
  if (inserted) {
    std::string made = Cut(Make(node, column));
    known_[{node, column}] = std::move(made);
  }
  return known_[{node, column}];
}

std::string ColumnOrigin::Of(int node, const Expr& expr) {
  return Cut(Renamed(expr, [&](int column) { return Of(node, column); }).ToString());
}

// Computed columns may read others.
std::string ColumnOrigin::Expand(const Table& table, const Expr& expr) const {
  auto name_of = [&](int column) {
    const TableColumn& source = table.columns[static_cast<size_t>(column)];
    if (source.computed) return Expand(table, *source.computed);
    return source.metadata_key.empty() ? source.name : "METADATA " + source.metadata_key;
  };
  return Renamed(expr, name_of).ToString();
}

std::string ColumnOrigin::Named(const ScanNode& scan, std::string column) const {
  return names_tables_ ? scan.table.name + "." + column : std::move(column);
}

std::string ColumnOrigin::Make(int index, int column) {
  const PlanNode& node = plan_.nodes[static_cast<size_t>(index)];
  const size_t at = static_cast<size_t>(column);
  if (const ScanNode* scan = node.as<ScanNode>()) {
    if (at >= scan->columns.size()) return Named(*scan, node.schema[column].name);  // hidden
    const int source = scan->columns[at];
    return Named(*scan, Expand(scan->table, Expr::Column(source, {}, node.schema[column].type)));
  }
  if (node.inputs.empty()) return node.schema[column].name;
  const int input = node.inputs[0].node;
  if (const CalcNode* calc = node.as<CalcNode>()) return Of(input, calc->projections[at]);
  if (const AggregateNode* aggregate = node.as<AggregateNode>()) {
    if (at < aggregate->keys.size()) return Of(input, aggregate->keys[at]);
    if (at - aggregate->keys.size() >= aggregate->calls.size()) return node.schema[column].name;
    const AggregateCall& call = aggregate->calls[at - aggregate->keys.size()];
    std::string text = call.name + (call.distinct ? "(DISTINCT " : "(");
    for (size_t i = 0; i < call.args.size(); ++i) text += (i == 0 ? "" : ", ") + Of(input, call.args[i]);
    if (call.filter >= 0) text += " FILTER " + Of(input, call.filter);
    return text + ")";
  }
  // The others hand their columns on, perhaps with more behind.
  const int passed = VisibleColumns(plan_.nodes[static_cast<size_t>(input)].schema);
  const LookupNode* lookup = node.as<LookupNode>();
  if (lookup != nullptr && column >= passed && column < VisibleColumns(node.schema)) {
    const int found = lookup->columns[static_cast<size_t>(column - passed)];
    std::string text = lookup->table.name + "." + lookup->table.columns[static_cast<size_t>(found)].name;
    for (const LookupNode::Key& key : lookup->keys) {
      text += fmt::format(" {} {} = {}", &key == &lookup->keys[0] ? "FOR" : "AND",
                          lookup->table.columns[static_cast<size_t>(key.column)].name, Of(input, key.value));
    }
    return text;
  }
  if (column >= passed) return node.schema[column].name;
  std::string text = Of(input, column);
  for (const PlanInput& other : node.inputs) {
    if (const std::string& more = Of(other.node, column); more != Of(input, column)) text += " | " + more;
  }
  return text;
}

void ColumnOrigin::AddConditions(int index, std::vector<std::string>* conditions) {
  const PlanNode& node = plan_.nodes[static_cast<size_t>(index)];
  std::vector<std::string> branches;
  for (const PlanInput& input : node.inputs) {
    const PlanNode& from = plan_.nodes[static_cast<size_t>(input.node)];
    std::vector<std::string>& into = node.inputs.size() == 1 ? *conditions : branches;
    const size_t begin = into.size();
    if (const CalcNode* calc = from.as<CalcNode>()) {
      for (const CalcNode::Filter& filter : calc->filters)
        into.push_back(Of(from.inputs[0].node, filter.condition));
    }
    if (!KeepsRows(from)) AddConditions(input.node, &into);
    if (node.inputs.size() == 1) continue;
    std::vector<std::string> branch(branches.begin() + static_cast<std::ptrdiff_t>(begin), branches.end());
    branches.resize(begin);
    branches.push_back(fmt::format("({})", Joined(std::move(branch), " AND ")));
  }
  if (!branches.empty()) conditions->push_back(Joined(std::move(branches), " | "));
}

std::string ColumnOrigin::Conditions(int node) {
  std::vector<std::string> conditions;
  AddConditions(node, &conditions);
  return Cut(Joined(std::move(conditions), " AND "));
}

std::string ColumnOrigin::Watermarks(int index) {
  const PlanNode& node = plan_.nodes[static_cast<size_t>(index)];
  if (const ScanNode* scan = node.as<ScanNode>()) {
    return scan->table.watermark ? Named(*scan, Expand(scan->table, scan->table.watermark->expr))
                                 : std::string();
  }
  std::string text;
  for (const PlanInput& input : node.inputs) {
    const std::string from = Watermarks(input.node);
    if (!from.empty()) text += (text.empty() ? "" : " | ") + from;
  }
  return Cut(std::move(text));
}

}  // namespace caudal
