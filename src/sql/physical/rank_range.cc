#include "sql/physical/rank_range.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "expr/evaluator.h"
#include "sql/physical/substitute.h"

namespace caudal::sql {
namespace {

std::optional<int64_t> ConstantInteger(const Expr& expr) {
  bool constant = true;
  VisitColumns(expr, [&](const Expr&) { constant = false; });
  if (!constant || !expr.type.is_integer()) return std::nullopt;
  Result<Value> value = EvalConstant(expr);
  if (!value.ok()) return std::nullopt;
  const int64_t* number = std::get_if<int64_t>(&value->data);
  return number != nullptr ? std::optional<int64_t>(*number) : std::nullopt;
}

// The comparison with its sides exchanged.
std::string_view Mirrored(std::string_view op) {
  return op == "<" ? ">" : op == "<=" ? ">=" : op == ">" ? "<" : op == ">=" ? "<=" : op;
}

}  // namespace

bool NarrowRank(const Expr& condition, int rank, RankRange* range) {
  if (condition.kind != Expr::Kind::kCall || condition.args.size() != 2) return false;
  if (condition.name == "AND") {
    RankRange narrowed = *range;
    if (!NarrowRank(condition.args[0], rank, &narrowed) || !NarrowRank(condition.args[1], rank, &narrowed))
      return false;
    *range = narrowed;
    return true;
  }
  auto is_rank = [&](const Expr& expr) { return expr.kind == Expr::Kind::kColumn && expr.column == rank; };
  std::string_view op = condition.name;
  std::optional<int64_t> bound;
  if (is_rank(condition.args[0])) {
    bound = ConstantInteger(condition.args[1]);
  } else if (is_rank(condition.args[1])) {
    bound = ConstantInteger(condition.args[0]);
    op = Mirrored(op);
  }
  if (!bound || *bound > (int64_t{1} << 40) || *bound < -(int64_t{1} << 40)) return false;
  if (op == "<=" || op == "=") range->last = std::min(range->last, *bound);
  if (op == "<") range->last = std::min(range->last, *bound - 1);
  if (op == ">=" || op == "=") range->first = std::max(range->first, *bound);
  if (op == ">") range->first = std::max(range->first, *bound + 1);
  return op == "<=" || op == "<" || op == "=" || op == ">=" || op == ">";
}

}  // namespace caudal::sql
