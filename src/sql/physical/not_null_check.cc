#include "sql/physical/not_null_check.h"

#include <fmt/format.h>

#include "expr/evaluator.h"
#include "expr/scalar_function.h"

namespace caudal::sql {
namespace {

ColumnPtr CheckKernel(KernelCall& call) {
  const ColumnPtr& value = call.args[0];
  if (!value->may_have_nulls()) return value;
  for (int32_t i = 0; i < call.rows.count; ++i) {
    const int32_t row = call.rows[i];
    if (!value->IsNull(row)) continue;
    call.errors.Add(row, fmt::format("column '{}' is NOT NULL, and its value is NULL",
                                     std::get<std::string>(call.expr.args[1].literal.data)));
  }
  return value;
}

constexpr ScalarFunction kCheck{.name = "NOT NULL",
                                .family = "conditional",
                                .doc = "",
                                .example = "",
                                .example_result = "",
                                .resolve = nullptr,
                                .kernel = CheckKernel,
                                .strict = false};

}  // namespace

Expr CheckNotNull(Expr value, std::string column) {
  Expr call;
  call.kind = Expr::Kind::kCall;
  call.type = value.type.WithNullable(false);
  call.name = std::string(kCheck.name);
  call.function = &kCheck;
  call.position = value.position;
  const auto length = static_cast<int32_t>(column.size());
  call.args.push_back(std::move(value));
  call.args.push_back(Expr::Literal(Type::Char(length).WithNullable(false), Value(std::move(column))));
  return call;
}

const Expr& WithoutCheck(const Expr& expr) { return expr.function == &kCheck ? expr.args[0] : expr; }

}  // namespace caudal::sql
