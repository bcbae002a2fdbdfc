#include "sql/physical/filter/scan_filters.h"

#include <algorithm>
#include <optional>

#include "expr/evaluator.h"

namespace caudal::sql {
namespace {

using FilterKind = ScanFilter::Kind;

constexpr std::pair<std::string_view, FilterKind> kComparisons[] = {{"=", FilterKind::kIn},
                                                                    {"<", FilterKind::kLess},
                                                                    {"<=", FilterKind::kLessOrEqual},
                                                                    {">", FilterKind::kGreater},
                                                                    {">=", FilterKind::kGreaterOrEqual}};

std::optional<FilterKind> ComparisonOf(const std::string& name) {
  for (const auto& [text, kind] : kComparisons) {
    if (name == text) return kind;
  }
  return std::nullopt;
}

FilterKind Mirrored(FilterKind kind) {
  switch (kind) {
    case FilterKind::kLess:
      return FilterKind::kGreater;
    case FilterKind::kLessOrEqual:
      return FilterKind::kGreaterOrEqual;
    case FilterKind::kGreater:
      return FilterKind::kLess;
    case FilterKind::kGreaterOrEqual:
      return FilterKind::kLessOrEqual;
    default:
      return kind;
  }
}

// A column, also one that is only made a wider integer to be compared.
const Expr* ColumnOf(const Expr& expr) {
  if (expr.kind == Expr::Kind::kColumn) return &expr;
  const bool cast = expr.kind == Expr::Kind::kCall && expr.name == "CAST" && expr.args.size() == 1;
  if (!cast || expr.args[0].kind != Expr::Kind::kColumn) return nullptr;
  const Type& from = expr.args[0].type;
  const bool widens = from.is_integer() && expr.type.is_integer() && from.id() <= expr.type.id();
  return widens ? &expr.args[0] : nullptr;
}

// What a literal is, also one that is cast; nothing for NULL and for what is no constant.
std::optional<Value> ConstantOf(const Expr& expr, const EvaluatorOptions& options) {
  const Expr* inner = &expr;
  while (inner->kind == Expr::Kind::kCall && inner->name == "CAST" && inner->args.size() == 1)
    inner = &inner->args[0];
  if (inner->kind != Expr::Kind::kLiteral) return std::nullopt;
  if (inner == &expr) return expr.literal.is_null() ? std::nullopt : std::optional(expr.literal);
  Result<Value> value = EvalConstant(expr, options);
  if (!value.ok() || value->is_null()) return std::nullopt;
  return std::move(value).value();
}

bool ComparesAsIs(const Type& column, const Type& value) {
  if (column.is_integer() && value.is_integer()) return true;
  if (column.is_string() && value.is_string()) return true;
  return column.EqualsIgnoringNullability(value);
}

class ScanFilterFinder {
 public:
  ScanFilterFinder(ScanNode* scan, const EvaluatorOptions& options) : scan_(*scan), options_(options) {}

  void Add(const Expr& condition) {
    if (condition.kind != Expr::Kind::kCall) return;
    if (condition.name == "AND") {
      for (const Expr& arg : condition.args) Add(arg);
      return;
    }
    const bool is_null = condition.name == "IS NULL";
    if (is_null || condition.name == "IS NOT NULL") {
      Keep(condition.args[0], is_null ? FilterKind::kIsNull : FilterKind::kIsNotNull, {});
      return;
    }
    if (condition.name == "IN") {
      AddList(condition);
      return;
    }
    const std::optional<FilterKind> kind = ComparisonOf(condition.name);
    if (!kind || condition.args.size() != 2) return;
    AddComparison(condition.args[0], *kind, condition.args[1]);
    AddComparison(condition.args[1], Mirrored(*kind), condition.args[0]);
  }

 private:
  void AddComparison(const Expr& left, FilterKind kind, const Expr& right) {
    const Expr* column = ColumnOf(left);
    const std::optional<Value> value = ConstantOf(right, options_);
    if (column == nullptr || !value || !ComparesAsIs(column->type, right.type)) return;
    Keep(*column, kind, {*value});
  }

  void AddList(const Expr& in) {
    const Expr* column = ColumnOf(in.args[0]);
    if (column == nullptr) return;
    std::vector<Value> values;
    for (size_t i = 1; i < in.args.size(); ++i) {
      const std::optional<Value> value = ConstantOf(in.args[i], options_);
      if (!value || !ComparesAsIs(column->type, in.args[i].type)) return;
      values.push_back(*value);
    }
    if (!values.empty()) Keep(*column, FilterKind::kIn, std::move(values));
  }

  void Keep(const Expr& column, FilterKind kind, std::vector<Value> values) {
    const auto position = static_cast<size_t>(column.column);
    if (column.kind != Expr::Kind::kColumn || position >= scan_.columns.size()) return;
    const int in_table = scan_.columns[position];
    const TableColumn& declared = scan_.table.columns[static_cast<size_t>(in_table)];
    if (declared.kind != TableColumn::Kind::kPhysical) return;
    scan_.filters.push_back({in_table, kind, std::move(values)});
  }

  ScanNode& scan_;
  const EvaluatorOptions& options_;
};

}  // namespace

void FindScanFilters(Draft* draft, bool batch, const Options& settings) {
  EvaluatorOptions options;
  const auto zone = settings.find("table.local-time-zone");
  if (zone != settings.end()) options.time_zone = zone->second;
  const std::vector<int> readers = CountReaders(*draft);
  for (const PlanNode& node : draft->nodes) {
    const CalcNode* calc = node.as<CalcNode>();
    if (calc == nullptr) continue;
    const auto below = static_cast<size_t>(node.inputs[0].node);
    ScanNode* scan = std::get_if<ScanNode>(&draft->nodes[below].payload);
    if (scan == nullptr || readers[below] != 1 || (scan->table.watermark && !batch)) continue;
    ScanFilterFinder finder(scan, options);
    for (const CalcNode::Filter& filter : calc->filters) finder.Add(filter.condition);
  }
}

}  // namespace caudal::sql
