// CAST and TRY_CAST: which casts there are, and their binding.
#include "expr/cast/cast.h"

#include <fmt/format.h>

#include "expr/functions/families.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

bool IsTime(const Type& type) {
  return type.id() == TypeId::kDate || type.id() == TypeId::kTime || type.is_timestamp();
}

bool IsTimeCast(TypeId from, TypeId to) {
  if (from == to) return true;
  if (from == TypeId::kDate) return to == TypeId::kTimestamp || to == TypeId::kTimestampLtz;
  return from != TypeId::kTime;  // a timestamp has a date and a time
}

// Nested values keep their layout: only lengths and nullability may differ.
bool SameLayout(const Type& from, const Type& to) {
  if (from.physical() != to.physical() || from.children().size() != to.children().size()) return false;
  if (from.children().empty()) {
    if (from.is_string() && to.is_string()) return to.length() >= from.length();
    return from.EqualsIgnoringNullability(to);
  }
  for (size_t i = 0; i < from.children().size(); ++i) {
    if (!SameLayout(from.children()[i].type, to.children()[i].type)) return false;
  }
  return true;
}

Result<Signature> ResolveCast(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 1));
  return Status::User("a cast is bound by its target type");
}

ColumnPtr CastKernel(KernelCall& call) {
  const Type& from = call.args[0]->type();
  const Type& to = call.expr.type;
  if (from.EqualsIgnoringNullability(to)) return call.args[0]->WithType(to);
  if (from.id() == TypeId::kNull) return Column::Null(to, call.physical_rows);
  if (to.is_string()) return CastToText(call);
  if (to.is_binary()) return CastBytes(call);
  if (from.is_string()) return CastFromText(call);
  if (IsTime(from)) return CastTime(call);
  if (!from.children().empty() || IsInterval(from)) return call.args[0]->WithType(to);
  return CastNumber(call);
}

ColumnPtr TryCastKernel(KernelCall& call) {
  RowErrors forgotten;
  KernelCall attempt{call.expr, call.args,      call.rows, call.physical_rows,
                     forgotten, call.evaluator, call.chunk};
  return CastKernel(attempt);
}

const ScalarFunction kCast[] = {
    {"CAST", "cast", "The value as another type; what cannot be converted fails.",
     "CAST('1.005' AS DECIMAL(10, 2))", "1.01", ResolveCast, CastKernel},
    {"TRY_CAST", "cast", "As CAST, but NULL where CAST fails.", "TRY_CAST('abc' AS INT)", "NULL", ResolveCast,
     TryCastKernel},
};

}  // namespace

bool IsCastAllowed(const Type& from, const Type& to) {
  if (from.id() == TypeId::kNull) return true;
  const bool number_from = from.is_numeric() || from.id() == TypeId::kBoolean;
  const bool number_to = to.is_numeric() || to.id() == TypeId::kBoolean;
  if (number_from && number_to) return true;
  if (to.is_string()) return true;
  if (to.is_binary()) return from.is_string() || from.is_binary();
  if (from.is_string()) return number_to || IsTime(to);
  if (IsTime(from) && IsTime(to)) return IsTimeCast(from.id(), to.id());
  if (IsInterval(from)) return from.id() == to.id();
  return !from.children().empty() && SameLayout(from, to);
}

Result<Expr> BindCast(Expr arg, const Type& target, bool try_cast, const SqlPosition& position) {
  const bool nullable = arg.type.nullable() || try_cast;
  if (arg.type.EqualsIgnoringNullability(target)) return arg;
  if (arg.kind == Expr::Kind::kLiteral && arg.literal.is_null()) {
    Expr null = Expr::Literal(target.WithNullable(true), Value());
    null.position = position;
    return null;
  }
  if (!IsCastAllowed(arg.type, target)) {
    return Status::User(fmt::format("{} cannot be cast to {}", arg.type.WithNullable(true).ToString(),
                                    target.WithNullable(true).ToString()));
  }
  Expr cast;
  cast.kind = Expr::Kind::kCall;
  cast.type = target.WithNullable(nullable);
  cast.function = &kCast[try_cast ? 1 : 0];
  cast.name = std::string(cast.function->name);
  cast.args.push_back(std::move(arg));
  cast.position = position;
  return cast;
}

std::span<const ScalarFunction> CastFunctions() { return kCast; }

}  // namespace caudal
