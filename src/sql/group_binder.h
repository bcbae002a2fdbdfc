// GroupBinder: GROUP BY, its aggregates and its windows.
//
// While keys, list and HAVING are bound, aggregates and TUMBLE_START become placeholder columns; Finish puts
// a Calc (keys and arguments), an Aggregate and a Calc (HAVING and list) on the input. Three kinds of window:
// the functions TUMBLE, HOP and SESSION in GROUP BY; window_start and window_end of a table function, which
// is then taken into the Aggregate; the same columns when that cannot be done, as tumbling windows over
// window_time. One SELECT, one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "sql/expression_binder.h"
#include "sql/query_binder.h"

namespace caudal {
struct AggregateFunction;
}

namespace caudal::sql {

class GroupBinder : public CallHandler {
 public:
  GroupBinder(QueryBinder& queries, const Select& select, const BindContext& context, const Relation& input)
      : queries_(queries), select_(select), context_(context), input_(input) {}

  // Once, before anything else is bound. The keys over the input, without TUMBLE(…) and the like.
  Result<std::vector<Expr>> BindKeys();
  Result<std::optional<Expr>> BindCall(const Call& call, SourceRange range,
                                       ExpressionBinder& binder) override;
  // `filters` are over the input; `having` and `projections` may hold placeholders.
  Result<Relation> Finish(std::vector<Expr> filters, std::vector<Expr> having,
                          std::vector<Projection> projections);

 private:
  struct BoundCall {
    const AggregateFunction* function;
    std::string name;
    std::vector<Expr> args;
    bool distinct;
    std::optional<Expr> filter;
    Type result;
  };
  // What the Aggregate reads: columns of a Calc that grow as keys and arguments are added.
  struct Input {
    Relation base;
    std::vector<CalcNode::Filter> filters;  // over `base`, as are the next three
    std::vector<Expr> columns;              // what each column of the FROM is
    std::vector<Projection> projections;
    std::optional<Expr> time;
    // The projection with this expression, added if there is none.
    int Column(Expr expr, std::string name);
  };

  Status BindGroupWindow(const Call& call, SourceRange range);
  Result<WindowSpec> BindWindowArguments(const Call& call, SourceRange range);
  Result<std::optional<Expr>> BindWindowBound(const Call& call, SourceRange range, std::string_view name);
  static std::string CallText(const BoundCall& call);
  Result<Expr> BindAggregate(const Call& call, SourceRange range, const AggregateFunction& function);

  Result<Input> ChooseInput(std::vector<Expr> filters);
  std::optional<Input> BelowWindow(const std::vector<Expr>& filters);
  Result<Input> OverWindowTime(std::vector<Expr> filters);
  bool IsWindowKey(const Expr& key) const;
  // GROUP BY, or where it would stand.
  SourceRange Place() const { return select_.group_by_range ? *select_.group_by_range : select_.keyword; }
  Status ReplaceInOutput(Expr& expr) const;
  int RequestWindowColumn(AggregateNode::WindowColumn column);

  static std::vector<Expr> Columns(const Schema& schema);
  Result<Relation> AddAggregate(Input input);
  void AddInputColumns(Input& input, std::vector<std::string>* names);
  int AddInputCalc(PlanBuilder& builder, Input& input, const SqlPosition& position) const;
  Status SetEmission();
  AggregateNode::WindowColumn KeyWindowColumn(const Expr& key) const;
  Status SetKeyOutputs(const Input& input);
  Result<Expr> StartFromEnd();
  WindowColumns OutputWindow() const;

  QueryBinder& queries_;
  const Select& select_;
  const BindContext& context_;
  const Relation& input_;
  std::vector<Expr> keys_;         // as bound over the input
  std::vector<Expr> key_outputs_;  // the column of the Aggregate (or an expression over it) for each key
  std::vector<BoundCall> calls_;
  std::optional<WindowSpec> group_window_;  // of TUMBLE, HOP or SESSION in GROUP BY
  std::string group_window_name_;
  bool attached_ = false;  // window_start and window_end are keys
  AggregateNode aggregate_;
  int window_base_ = 0;  // first window column of the Aggregate's output
  int64_t start_from_end_ =
      0;  // > 0: windows tumble over window_time, and their start is this long before the end
};

}  // namespace caudal::sql
