#include "sql/physical/substitute.h"

namespace caudal::sql {

Expr Substitute(const Expr& expr, std::span<const Expr> columns) {
  if (expr.kind == Expr::Kind::kColumn) {
    Expr replaced = columns[static_cast<size_t>(expr.column)];
    if (expr.position.known()) replaced.position = expr.position;
    return replaced;
  }
  Expr copy = expr;
  for (Expr& arg : copy.args) arg = Substitute(arg, columns);
  return copy;
}

void VisitColumns(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  if (expr.kind == Expr::Kind::kColumn) visit(expr);
  for (const Expr& arg : expr.args) VisitColumns(arg, visit);
}

}  // namespace caudal::sql
