// SelectBinder: one SELECT … FROM … WHERE … GROUP BY … HAVING block to plan nodes.
//
// Made for one block and thrown away. Three shapes: a Calc; a TopN with a Calc when the list has ROW_NUMBER()
// OVER; an Aggregate between two Calcs when there is GROUP BY or an aggregate. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "sql/expression_binder.h"
#include "sql/query_binder.h"

namespace caudal::sql {

class SelectBinder {
 public:
  // `order`: of the query that the block is the body of.
  SelectBinder(QueryBinder& queries, const Select& select, const BindContext& context,
               const std::vector<OrderItem>& order)
      : queries_(queries), select_(select), context_(context), order_(order) {}

  // Behind the columns of the list stand those that only ORDER BY asks for, named by OrderColumnName.
  Result<Relation> Bind();

 private:
  struct Item {
    SourceRange range;
    const Expression* expression;  // null: a column that a star stands for
    int star_column = -1;
    std::string name;
  };

  Status ExpandItems();
  void AddOrderItems();
  Status ExpandStar(const SelectItem& item);
  Result<Relation> BindPlain(std::vector<Expr> filters);
  Result<Relation> BindWithoutFrom();
  Result<Relation> AddDistinct(Relation relation);
  Result<std::vector<Expr>> BindItems(ExpressionBinder& binder);
  bool HasAggregates() const;

  QueryBinder& queries_;
  const Select& select_;
  const BindContext& context_;
  const std::vector<OrderItem>& order_;
  Relation input_;
  std::vector<Item> items_;
};

// The name of the column by which the ORDER BY item of that number sorts and which the list does not give.
std::string OrderColumnName(size_t item);

// Adds a Calc that filters and projects; nothing if it would change nothing. Window columns are followed.
Relation Project(PlanBuilder& builder, const Relation& input, const std::string& owner,
                 std::vector<Expr> filters, std::vector<Projection> projections, const SqlPosition& position);

// The canonical text of a condition, without parentheses around the whole.
std::string ConditionText(const Expr& condition);

// Conjuncts with the names under which their rows are counted: their canonical text.
std::vector<CalcNode::Filter> NameFilters(std::vector<Expr> conditions);

}  // namespace caudal::sql
