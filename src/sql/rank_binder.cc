#include "sql/rank_binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sql/select_binder.h"

namespace caudal::sql {
namespace {

// Beyond every column of an input.
constexpr int kRankPlaceholder = 1 << 20;

}  // namespace

Result<std::optional<Expr>> RankBinder::BindCall(const Call& call, SourceRange range, ExpressionBinder&) {
  if (!call.over) return std::optional<Expr>();
  const std::string name = UpperCase(call.name.text);
  if (name != "ROW_NUMBER") return NotBuiltAt(*context_.source, range, fmt::format("{} OVER (…)", name));
  if (!call.arguments.empty() || call.star || call.filter) {
    return ErrorAt(*context_.source, range, "ROW_NUMBER takes no arguments");
  }
  std::vector<Expr> old_partition = std::exchange(partition_, {});
  std::vector<Expr> old_order = std::exchange(order_, {});
  std::vector<SortKey> old_keys = std::exchange(order_keys_, {});
  RETURN_IF_ERROR(BindOver(*call.over));
  if (used_ && (old_partition != partition_ || old_order != order_ || old_keys != order_keys_)) {
    return NotBuiltAt(*context_.source, range, "a second, different window in one SELECT");
  }
  used_ = true;
  position_ = context_.source->Position(range);
  return std::optional<Expr>(
      Expr::Column(kRankPlaceholder, "ROW_NUMBER()", Type(TypeId::kBigInt, /*nullable=*/false)));
}

Status RankBinder::BindOver(const Over& over) {
  if (over.order_by.empty()) {
    return ErrorAt(*context_.source, over.range, "ROW_NUMBER() OVER needs an ORDER BY");
  }
  ExpressionBinder binder(*context_.source, input_.scope);
  for (const ExpressionPtr& key : over.partition_by) {
    ASSIGN_OR_RETURN(Expr expr, binder.Bind(*key));
    partition_.push_back(std::move(expr));
  }
  for (const OrderItem& item : over.order_by) {
    ASSIGN_OR_RETURN(Expr expr, binder.Bind(*item.expression));
    order_.push_back(std::move(expr));
    // NULL is the smallest value, as in Flink: first when ascending.
    order_keys_.push_back({-1, !item.descending, item.nulls_first.value_or(!item.descending)});
  }
  return Status();
}

Result<Relation> RankBinder::AddTopN(std::vector<Expr> filters) {
  PlanBuilder& builder = queries_.builder();
  std::vector<Projection> projections;
  for (int i = 0; i < input_.scope.columns.size(); ++i) {
    const Field& field = input_.scope.columns[i];
    projections.push_back({Expr::Column(i, field.name, field.type), field.name});
  }
  // Keys that are no columns become columns.
  auto column_of = [&](const Expr& expr) {
    if (expr.kind == Expr::Kind::kColumn) return expr.column;
    for (size_t i = 0; i < projections.size(); ++i) {
      if (projections[i].expr == expr) return static_cast<int>(i);
    }
    projections.push_back({expr, fmt::format("key${}", projections.size())});
    return static_cast<int>(projections.size()) - 1;
  };
  TopNNode top;
  ChooseEmission(top);
  for (const Expr& key : partition_) top.partition.push_back(column_of(key));
  for (size_t i = 0; i < order_.size(); ++i) {
    SortKey key = order_keys_[i];
    key.column = column_of(order_[i]);
    top.order.push_back(key);
  }
  top.last = std::numeric_limits<int64_t>::max();
  top.with_rank = true;
  Relation relation =
      Project(builder, input_, context_.owner, std::move(filters), std::move(projections), position_);
  relation.node = builder.AddTopN(context_.owner + "/row-number", relation.node, std::move(top),
                                  "row_number$", position_);
  rank_column_ = builder.node(relation.node).schema.size() - 1;
  relation.scope.columns = builder.node(relation.node).schema;
  return relation;
}

// With window_start and window_end among the partition columns the result of each window comes once, at its
// end.
void RankBinder::ChooseEmission(TopNNode& top) const {
  if (queries_.batch()) {
    top.emit = TopNNode::Emit::kOnEnd;
    return;
  }
  if (!input_.window) return;
  auto is_key = [&](int column) {
    return column >= 0 && std::ranges::any_of(partition_, [&](const Expr& key) {
             return key.kind == Expr::Kind::kColumn && key.column == column;
           });
  };
  const WindowColumns& window = *input_.window;
  if (!is_key(window.start) || !is_key(window.end)) return;
  top.emit = TopNNode::Emit::kOnWatermark;
  top.window = window.spec;
  top.window.time_column = window.end;
}

void RankBinder::ReplacePlaceholder(Expr& expr) const {
  if (expr.kind == Expr::Kind::kColumn && expr.column == kRankPlaceholder) {
    expr.column = rank_column_;
    expr.name = "row_number$";
  }
  for (Expr& arg : expr.args) ReplacePlaceholder(arg);
}

}  // namespace caudal::sql
