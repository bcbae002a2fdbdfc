// RankBinder: ROW_NUMBER() OVER (PARTITION BY … ORDER BY …) in a select list.
//
// Binds the call to a placeholder column, then adds the TopN under the list. Its range is open ended here;
// the planner narrows it by the conditions on the row number (sql/physical/rank_range.h). One SELECT, one
// thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "sql/expression_binder.h"
#include "sql/query_binder.h"

namespace caudal::sql {

class RankBinder : public CallHandler {
 public:
  RankBinder(QueryBinder& queries, const BindContext& context, const Relation& input)
      : queries_(queries), context_(context), input_(input) {}

  Result<std::optional<Expr>> BindCall(const Call& call, SourceRange range,
                                       ExpressionBinder& binder) override;
  bool used() const { return used_; }

  // The input filtered, with the row number behind its columns. REQUIRES: used().
  Result<Relation> AddTopN(std::vector<Expr> filters);
  // Puts the row number in the place of the placeholder. REQUIRES: AddTopN was called.
  void ReplacePlaceholder(Expr& expr) const;

 private:
  Status BindOver(const Over& over);
  void ChooseEmission(TopNNode& top) const;

  QueryBinder& queries_;
  const BindContext& context_;
  const Relation& input_;
  bool used_ = false;
  int rank_column_ = -1;
  SqlPosition position_;
  std::vector<Expr> partition_;
  std::vector<Expr> order_;
  std::vector<SortKey> order_keys_;
};

}  // namespace caudal::sql
