// Conditional functions: CASE, IF, COALESCE, IFNULL, NULLIF, GREATEST, LEAST. A branch is evaluated only for
// the rows that take it, so that its errors never fire elsewhere.
#include <algorithm>
#include <cmath>

#include "expr/column_merge.h"
#include "expr/functions/families.h"
#include "expr/kernel.h"
#include "expr/physical_dispatch.h"
#include "expr/string_output.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

bool IsCondition(const Type& type) { return type.id() == TypeId::kBoolean || type.id() == TypeId::kNull; }

// What a branch of type `from` is cast to: nothing when only the length of a text differs.
Type BranchType(const Type& from, const Type& common) {
  if (from.is_string() && common.is_string()) return from;
  if (from.is_binary() && common.is_binary()) return from;
  return common.WithNullable(from.nullable());
}

// Rows of `rows` that are not in `taken`; both in the same order.
std::vector<uint16_t> Without(const RowSet& rows, const std::vector<uint16_t>& taken) {
  std::vector<uint16_t> rest;
  rest.reserve(static_cast<size_t>(rows.count) - taken.size());
  size_t next = 0;
  for (int32_t i = 0; i < rows.count; ++i) {
    if (next < taken.size() && rows[i] == taken[next]) {
      ++next;
    } else {
      rest.push_back(static_cast<uint16_t>(rows[i]));
    }
  }
  return rest;
}

RowSet AsRows(const std::vector<uint16_t>& rows) { return {rows.data(), static_cast<int32_t>(rows.size())}; }

// CASE: condition, value, condition, value, …, and perhaps a value for the rest.
Result<Signature> ResolveCase(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, -1));
  const bool has_else = args.size() % 2 == 1;
  std::vector<Type> values;
  for (size_t i = 0; i + 1 < args.size(); i += 2) {
    if (!IsCondition(args[i])) return WrongArgument(i, args[i], "a BOOLEAN condition");
    values.push_back(args[i + 1]);
  }
  if (has_else) values.push_back(args.back());
  ASSIGN_OR_RETURN(Type common, CommonType(values));
  Signature signature{common.WithNullable(AnyNullable(values) || !has_else), {}};
  for (size_t i = 0; i < args.size(); ++i) {
    const bool condition = i % 2 == 0 && i + 1 < args.size();
    signature.args.push_back(condition ? Type(TypeId::kBoolean, args[i].nullable())
                                       : BranchType(args[i], common));
  }
  return signature;
}

ColumnPtr CaseKernel(KernelCall& call) {
  const std::vector<Expr>& args = call.expr.args;
  ColumnMerge merge(call.expr.type, call.physical_rows);
  std::vector<uint16_t> open;
  std::vector<uint16_t> passed;
  RowSet rows = call.rows;
  size_t i = 0;
  for (; i + 1 < args.size(); i += 2) {
    call.evaluator.Filter(args[i], call.chunk, rows, call.errors, &passed);
    if (!passed.empty()) {
      merge.Take(call.evaluator.Eval(args[i + 1], call.chunk, AsRows(passed), call.errors), AsRows(passed));
    }
    open = Without(rows, passed);
    rows = AsRows(open);
  }
  if (i < args.size() && rows.count > 0) {
    merge.Take(call.evaluator.Eval(args[i], call.chunk, rows, call.errors), rows);
  }
  return merge.Finish();
}

Result<Signature> ResolveIf(std::span<const Type> args, std::span<const Value* const> literals) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 3, 3));
  ASSIGN_OR_RETURN(Signature signature, ResolveCase(args, literals));
  signature.result = signature.result.WithNullable(AnyNullable(args));
  return signature;
}

Result<Signature> ResolveCoalesce(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, -1));
  ASSIGN_OR_RETURN(Type common, CommonType(args));
  const bool nullable =
      std::all_of(args.begin(), args.end(), [](const Type& type) { return type.nullable(); });
  Signature signature{common.WithNullable(nullable), {}};
  for (const Type& arg : args) signature.args.push_back(BranchType(arg, common));
  return signature;
}

Result<Signature> ResolveIfNull(std::span<const Type> args, std::span<const Value* const> literals) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, 2));
  ASSIGN_OR_RETURN(Signature signature, ResolveCoalesce(args, literals));
  if (args[0].is_string() && !args[0].nullable()) signature.result = args[0];
  return signature;
}

ColumnPtr CoalesceKernel(KernelCall& call) {
  ColumnMerge merge(call.expr.type, call.physical_rows);
  std::vector<uint16_t> open;
  RowSet rows = call.rows;
  for (const Expr& arg : call.expr.args) {
    const ColumnPtr column = call.evaluator.Eval(arg, call.chunk, rows, call.errors);
    if (!column->may_have_nulls()) {
      merge.Take(column, rows);
      break;
    }
    std::vector<uint16_t> found;
    std::vector<uint16_t> missing;
    ForEachRow(rows, [&](int32_t row) {
      (column->IsNull(row) ? missing : found).push_back(static_cast<uint16_t>(row));
    });
    merge.Take(column, AsRows(found));
    open.swap(missing);
    rows = AsRows(open);
    if (rows.count == 0) break;
  }
  return merge.Finish();
}

// NULLIF is bound as CASE WHEN a = b THEN NULL ELSE a END; this is only asked for its type.
Result<Signature> ResolveNullIf(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, 2));
  return Signature{args[0].WithNullable(true), {args.begin(), args.end()}};
}

Result<Signature> ResolveExtreme(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, -1));
  ASSIGN_OR_RETURN(Type common, CommonType(args));
  if (!common.children().empty()) return WrongArgument(0, args[0], "values that can be compared");
  Signature signature{common.WithNullable(AnyNullable(args)), {}};
  for (const Type& arg : args) signature.args.push_back(BranchType(arg, common));
  return signature;
}

template <bool kGreatest, typename T>
bool IsBetter(const T& candidate, const T& best) {
  if constexpr (std::is_floating_point_v<T>) {  // Java's order: -0.0 before 0.0, NaN the largest
    if (std::isnan(candidate) || std::isnan(best)) return std::isnan(kGreatest ? candidate : best);
    if (candidate == best) return std::signbit(kGreatest ? best : candidate);
  }
  return kGreatest ? best < candidate : candidate < best;
}

template <bool kGreatest>
ColumnPtr ExtremeKernel(KernelCall& call) {
  const Physical physical = call.expr.type.physical();
  const auto best_of = [&]<typename T>(auto& out, auto set) {
    std::vector<ColumnView<T>> views;
    for (const ColumnPtr& arg : call.args) views.emplace_back(*arg);
    ForEachRow(call.rows, [&](int32_t row) {
      T best = views[0][row];
      for (const ColumnView<T>& view : views) {
        if (IsBetter<kGreatest, T>(view[row], best)) best = view[row];
      }
      set(out, row, best);
    });
  };
  if (physical == Physical::kString) {
    StringOutput out(call.physical_rows);
    for (const ColumnPtr& arg : call.args) out.KeepAlive(arg);
    best_of.template operator()<StringView>(out,
                                            [](auto& to, int32_t row, StringView v) { to.Share(row, v); });
    return out.Finish(call.expr.type);
  }
  return DispatchFixed(physical, [&]<typename T>() {
    Output<T> out(call.physical_rows);
    best_of.template operator()<T>(out, [](auto& to, int32_t row, T v) { to.Set(row, v); });
    return out.Finish(call.expr.type);
  });
}

constexpr std::string_view kFamilyConditional = "conditional";

const ScalarFunction kConditional[] = {
    {"CASE", kFamilyConditional, "The value of the first condition that is TRUE.",
     "CASE WHEN 1 > 2 THEN 'a' ELSE 'b' END", "b", ResolveCase, CaseKernel, true, true, false},
    {"IF", kFamilyConditional, "The second argument if the first is TRUE, else the third.",
     "IF(1 > 2, 10, 20)", "20", ResolveIf, CaseKernel, true, true, false},
    {"COALESCE", kFamilyConditional, "The first argument that is not NULL.", "COALESCE(NULL, 5)", "5",
     ResolveCoalesce, CoalesceKernel, true, true, false},
    {"IFNULL", kFamilyConditional, "The second argument where the first is NULL.", "IFNULL(NULL, 'x')", "x",
     ResolveIfNull, CoalesceKernel, true, true, false},
    {"NULLIF", kFamilyConditional, "NULL where both are equal, else the first.", "NULLIF(1, 1)", "NULL",
     ResolveNullIf, CoalesceKernel, true, true, false},
    {"GREATEST", kFamilyConditional, "The largest argument; NULL if one is.", "GREATEST(1, 3, 2)", "3",
     ResolveExtreme, ExtremeKernel<true>},
    {"LEAST", kFamilyConditional, "The smallest argument; NULL if one is.", "LEAST('b', 'a')", "a",
     ResolveExtreme, ExtremeKernel<false>},
};

}  // namespace

std::span<const ScalarFunction> ConditionalFunctions() { return kConditional; }

}  // namespace caudal
