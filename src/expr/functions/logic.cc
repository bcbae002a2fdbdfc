// Three-valued logic: AND, OR, NOT, IS [NOT] TRUE, IS [NOT] FALSE.
#include "expr/functions/families.h"
#include "expr/kernel.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

Result<Signature> BooleanArguments(std::span<const Type> args, int low, int high, bool nullable) {
  RETURN_IF_ERROR(ExpectCount(args.size(), low, high));
  Signature signature{Type(TypeId::kBoolean, nullable), {}};
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].id() != TypeId::kBoolean && args[i].id() != TypeId::kNull) {
      return WrongArgument(i, args[i], "a BOOLEAN");
    }
    signature.args.push_back(Type(TypeId::kBoolean, args[i].nullable()));
  }
  return signature;
}

Result<Signature> ResolveConnective(std::span<const Type> args, std::span<const Value* const>) {
  return BooleanArguments(args, 2, -1, AnyNullable(args));
}
Result<Signature> ResolveNot(std::span<const Type> args, std::span<const Value* const>) {
  return BooleanArguments(args, 1, 1, AnyNullable(args));
}
Result<Signature> ResolveTruth(std::span<const Type> args, std::span<const Value* const>) {
  return BooleanArguments(args, 1, 1, false);
}

// AND (kDecides = false) and OR (true): an argument with the deciding value ends the matter for its row; the
// arguments after it are not evaluated there.
template <bool kDecides>
ColumnPtr ConnectiveKernel(KernelCall& call) {
  Output<uint8_t> out(call.physical_rows);
  std::vector<uint16_t> open;  // rows not decided yet
  std::vector<uint8_t> unknown(static_cast<size_t>(call.physical_rows), 0);
  bool any_unknown = false;
  RowSet rows = call.rows;
  for (const Expr& arg : call.expr.args) {
    const ColumnPtr column = call.evaluator.Eval(arg, call.chunk, rows, call.errors);
    const ColumnView<uint8_t> values(*column);
    std::vector<uint16_t> next;
    next.reserve(static_cast<size_t>(rows.count));
    ForEachRow(rows, [&](int32_t row) {
      if (values.IsNull(row)) {
        unknown[static_cast<size_t>(row)] = 1;
        any_unknown = true;
        next.push_back(static_cast<uint16_t>(row));
      } else if ((values[row] != 0) == kDecides) {
        out.Set(row, kDecides);
      } else {
        next.push_back(static_cast<uint16_t>(row));
      }
    });
    open.swap(next);
    rows = {open.data(), static_cast<int32_t>(open.size())};
  }
  for (const uint16_t row : open) {
    if (any_unknown && unknown[row] != 0) {
      out.SetNull(row);
    } else {
      out.Set(row, !kDecides);
    }
  }
  return out.Finish(call.expr.type);
}

ColumnPtr NotKernel(KernelCall& call) {
  return MapUnary<uint8_t, uint8_t>(call, [](uint8_t value) -> uint8_t { return value == 0; });
}

// IS TRUE and its kin: never NULL.
template <bool kTruth, bool kNegated>
ColumnPtr TruthKernel(KernelCall& call) {
  Output<uint8_t> out(call.physical_rows);
  const ColumnView<uint8_t> values(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    const bool holds = !values.IsNull(row) && (values[row] != 0) == kTruth;
    out.Set(row, holds != kNegated);
  });
  return out.Finish(call.expr.type);
}

constexpr std::string_view kFamilyLogic = "logic";

const ScalarFunction kLogic[] = {
    {"AND", kFamilyLogic,
     "TRUE if both are, FALSE if one is, else NULL; what FALSE decides is not evaluated.", "TRUE AND NULL",
     "NULL", ResolveConnective, ConnectiveKernel<false>, true, true, false},
    {"OR", kFamilyLogic, "TRUE if one is, FALSE if both are, else NULL; what TRUE decides is not evaluated.",
     "TRUE OR NULL", "TRUE", ResolveConnective, ConnectiveKernel<true>, true, true, false},
    {"NOT", kFamilyLogic, "The opposite; NULL stays NULL.", "NOT FALSE", "TRUE", ResolveNot, NotKernel},
    {"IS TRUE", kFamilyLogic, "Whether it is TRUE; NULL is not.", "NULL IS TRUE", "FALSE", ResolveTruth,
     TruthKernel<true, false>, false, true, false},
    {"IS NOT TRUE", kFamilyLogic, "Whether it is FALSE or NULL.", "NULL IS NOT TRUE", "TRUE", ResolveTruth,
     TruthKernel<true, true>, false, true, false},
    {"IS FALSE", kFamilyLogic, "Whether it is FALSE; NULL is not.", "FALSE IS FALSE", "TRUE", ResolveTruth,
     TruthKernel<false, false>, false, true, false},
    {"IS NOT FALSE", kFamilyLogic, "Whether it is TRUE or NULL.", "FALSE IS NOT FALSE", "FALSE", ResolveTruth,
     TruthKernel<false, true>, false, true, false},
};

}  // namespace

std::span<const ScalarFunction> LogicFunctions() { return kLogic; }

}  // namespace caudal
