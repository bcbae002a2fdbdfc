#include "sql/select_binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "expr/aggregate_function.h"
#include "sql/group_binder.h"
#include "sql/lookup/lookup_binder.h"
#include "sql/parse/find_calls.h"
#include "sql/rank_binder.h"
#include "sql/window_spec.h"

namespace caudal::sql {
namespace {

// The name that Flink gives a column of the list: the last part of a name, else EXPR$position.
std::string DerivedName(const Expression& expression, size_t position) {
  if (const Identifier* identifier = std::get_if<Identifier>(&expression.node))
    return identifier->parts.back().text;
  if (const FieldAccess* access = std::get_if<FieldAccess>(&expression.node)) return access->field.text;
  return fmt::format("EXPR${}", position);
}

bool IsAggregate(const Call& call) {
  return !call.over && FindAggregateFunction(UpperCase(call.name.text)) != nullptr;
}

}  // namespace

std::string OrderColumnName(size_t item) { return fmt::format("order-by${}", item); }

std::string ConditionText(const Expr& condition) {
  std::string text = condition.ToString();
  const bool wrapped = text.size() > 2 && text.front() == '(' && text.back() == ')';
  return wrapped && condition.kind == Expr::Kind::kCall && condition.args.size() == 2
             ? text.substr(1, text.size() - 2)
             : text;
}

std::vector<CalcNode::Filter> NameFilters(std::vector<Expr> conditions) {
  std::vector<CalcNode::Filter> filters;
  for (Expr& condition : conditions) {
    std::string name = ConditionText(condition);
    filters.push_back({std::move(name), std::move(condition)});
  }
  return filters;
}

Relation Project(PlanBuilder& builder, const Relation& input, const std::string& owner,
                 std::vector<Expr> filters, std::vector<Projection> projections,
                 const SqlPosition& position) {
  Relation relation;
  const Schema& names = builder.node(input.node).schema;
  bool identity = filters.empty() && static_cast<int>(projections.size()) == names.size();
  WindowColumns window;
  for (int i = 0; i < static_cast<int>(projections.size()); ++i) {
    const Projection& projection = projections[static_cast<size_t>(i)];
    relation.scope.columns.fields.push_back({projection.name, projection.expr.type});
    const bool is_column = projection.expr.kind == Expr::Kind::kColumn;
    identity = identity && is_column && projection.expr.column == i && projection.name == names[i].name;
    if (!is_column || !input.window) continue;
    const int column = projection.expr.column;
    if (column == input.window->start && window.start < 0) window.start = i;
    if (column == input.window->end && window.end < 0) window.end = i;
    if (column == input.window->time && window.time < 0) window.time = i;
  }
  if (input.window) {
    window.spec = input.window->spec;
    relation.window = window;
  }
  relation.node = identity ? input.node
                           : builder.AddCalc(owner + "/calc", input.node, NameFilters(std::move(filters)),
                                             std::move(projections), position);
  return relation;
}

Result<Relation> SelectBinder::Bind() {
  if (!select_.from) return BindWithoutFrom();
  ASSIGN_OR_RETURN(input_, queries_.BindFrom(*select_.from, context_));
  for (const Join& join : select_.joins) {
    ASSIGN_OR_RETURN(input_, LookupBinder(queries_, context_, std::move(input_)).Bind(join));
  }
  RETURN_IF_ERROR(ExpandItems());
  std::vector<Expr> filters;
  if (select_.where) {
    ExpressionBinder binder(*context_.source, input_.scope);
    RETURN_IF_ERROR(binder.BindConjuncts(*select_.where, "WHERE", &filters));
  }
  if (!select_.group_by_range && !HasAggregates()) {
    if (select_.having) {
      return ErrorAt(*context_.source, select_.having->range, "HAVING needs GROUP BY or an aggregate")
          .Hint("write the condition in WHERE");
    }
    if (input_.window && input_.window->spec.is_session())
      return NoSessionRows(select_.keyword, *context_.source);
    ASSIGN_OR_RETURN(Relation relation, BindPlain(std::move(filters)));
    return AddDistinct(std::move(relation));
  }
  GroupBinder group(queries_, select_, context_, input_);
  ASSIGN_OR_RETURN(std::vector<Expr> keys, group.BindKeys());
  ExpressionBinder binder(*context_.source, input_.scope, &group);
  ASSIGN_OR_RETURN(std::vector<Expr> items, BindItems(binder));
  std::vector<Expr> having;
  if (select_.having) RETURN_IF_ERROR(binder.BindConjuncts(*select_.having, "HAVING", &having));
  std::vector<Projection> projections;
  for (size_t i = 0; i < items.size(); ++i) projections.push_back({std::move(items[i]), items_[i].name});
  ASSIGN_OR_RETURN(Relation relation,
                   group.Finish(std::move(filters), std::move(having), std::move(projections)));
  return AddDistinct(std::move(relation));
}

Status SelectBinder::ExpandItems() {
  for (const SelectItem& item : select_.items) {
    if (item.star) {
      RETURN_IF_ERROR(ExpandStar(item));
    } else {
      std::string name = item.alias ? item.alias->text : DerivedName(*item.expression, items_.size());
      items_.push_back({item.range, item.expression.get(), -1, std::move(name)});
    }
  }
  // A name that stands twice gets a number, as in Flink: a, a0.
  std::set<std::string> used;
  for (Item& item : items_) {
    std::string name = item.name;
    for (int i = 0; !used.insert(name).second; ++i) name = fmt::format("{}{}", item.name, i);
    item.name = name;
  }
  AddOrderItems();
  return Status();
}

// An ORDER BY item that is no expression over the list's own names is one over the input's, or an aggregate.
void SelectBinder::AddOrderItems() {
  if (select_.distinct) return;  // its rows have the list's columns and no others
  const size_t listed = items_.size();
  auto is_foreign = [&](const Identifier& name) {
    return name.parts.size() > 1 ||
           std::none_of(items_.begin(), items_.begin() + static_cast<ptrdiff_t>(listed),
                        [&](const Item& item) { return item.name == name.parts[0].text; });
  };
  for (size_t i = 0; i < order_.size(); ++i) {
    const Expression& expression = *order_[i].expression;
    if (!HasIdentifier(expression, is_foreign) && !HasCall(expression, IsAggregate)) continue;
    items_.push_back({expression.range, &expression, -1, OrderColumnName(i)});
  }
}

Status SelectBinder::ExpandStar(const SelectItem& item) {
  std::pair<int, int> columns(0, input_.scope.columns.size());
  if (!item.star_qualifier.empty()) {
    const auto table = input_.scope.ColumnsOf(item.star_qualifier.back().text);
    if (!table) {
      return ErrorAt(*context_.source, item.range,
                     fmt::format("unknown table '{}'", item.star_qualifier.back().text));
    }
    columns = *table;
  }
  for (int i = columns.first; i < columns.second; ++i) {
    items_.push_back({item.range, nullptr, i, input_.scope.columns[i].name});
  }
  return Status();
}

bool SelectBinder::HasAggregates() const {
  for (const SelectItem& item : select_.items) {
    if (item.expression && HasCall(*item.expression, IsAggregate)) return true;
  }
  for (const OrderItem& item : order_) {
    if (HasCall(*item.expression, IsAggregate)) return true;
  }
  return select_.having && HasCall(*select_.having, IsAggregate);
}

Result<std::vector<Expr>> SelectBinder::BindItems(ExpressionBinder& binder) {
  std::vector<Expr> exprs;
  for (const Item& item : items_) {
    if (item.expression == nullptr) {
      const Field& field = input_.scope.columns[item.star_column];
      Expr column = Expr::Column(item.star_column, field.name, field.type);
      column.position = context_.source->Position(item.range);
      exprs.push_back(std::move(column));
      continue;
    }
    ASSIGN_OR_RETURN(Expr expr, binder.Bind(*item.expression));
    exprs.push_back(std::move(expr));
  }
  return exprs;
}

Result<Relation> SelectBinder::BindPlain(std::vector<Expr> filters) {
  RankBinder rank(queries_, context_, input_);
  ExpressionBinder binder(*context_.source, input_.scope, &rank);
  ASSIGN_OR_RETURN(std::vector<Expr> items, BindItems(binder));
  const SqlPosition position = context_.source->Position(select_.keyword);
  std::vector<Projection> projections;
  if (rank.used()) {
    ASSIGN_OR_RETURN(input_, rank.AddTopN(std::move(filters)));
    filters.clear();
    for (Expr& item : items) rank.ReplacePlaceholder(item);
  }
  for (size_t i = 0; i < items.size(); ++i) projections.push_back({std::move(items[i]), items_[i].name});
  return Project(queries_.builder(), input_, context_.owner, std::move(filters), std::move(projections),
                 position);
}

// SELECT 1 + 1: one row of constants.
Result<Relation> SelectBinder::BindWithoutFrom() {
  PlanNode node;
  node.id = context_.owner + "/values";
  node.position = context_.source->Position(select_.keyword);
  for (const SelectItem& item : select_.items) {
    if (item.star) return ErrorAt(*context_.source, item.range, "'*' needs a FROM");
  }
  const bool plain = !select_.where && !select_.group_by_range && !select_.having && !HasAggregates();
  if (!plain) {
    return NotBuiltAt(*context_.source, select_.keyword, "SELECT without FROM but with WHERE or an aggregate")
        .Hint("write FROM (VALUES (1))");
  }
  RETURN_IF_ERROR(ExpandItems());
  ExpressionBinder binder(*context_.source, input_.scope);
  ASSIGN_OR_RETURN(std::vector<Expr> items, BindItems(binder));
  for (size_t i = 0; i < items.size(); ++i) node.schema.fields.push_back({items_[i].name, items[i].type});
  node.payload = ValuesNode{{std::move(items)}};
  Relation relation;
  relation.scope.columns = node.schema;
  relation.node = queries_.builder().Add(std::move(node));
  return relation;
}

Result<Relation> SelectBinder::AddDistinct(Relation relation) {
  if (!select_.distinct) return relation;
  AggregateNode distinct;
  for (int i = 0; i < relation.scope.columns.size(); ++i) distinct.keys.push_back(i);
  distinct.emit = queries_.batch() ? AggregateNode::Emit::kOnEnd : AggregateNode::Emit::kOnChange;
  relation.node =
      queries_.builder().AddAggregate(context_.owner + "/distinct", relation.node, std::move(distinct), {},
                                      context_.source->Position(select_.distinct_range));
  relation.window.reset();
  return relation;
}

}  // namespace caudal::sql
