// Comparison: = <> < <= > >=, IS [NOT] DISTINCT FROM, IS [NOT] NULL, IN.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "data/int128.h"
#include "expr/functions/families.h"
#include "expr/kernel.h"
#include "expr/physical_dispatch.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

bool IsComparable(const Type& type) { return type.children().empty() && type.id() != TypeId::kNull; }

bool IsTimeOfDayOrDate(const Type& type) {
  return type.is_timestamp() || type.id() == TypeId::kDate || type.id() == TypeId::kTime;
}

// What a time and a text are compared as, or a TIMESTAMP and an instant, though a CASE would have no type for
// them: the text becomes a time, the TIMESTAMP an instant of the session's zone. NULL if it is neither.
Type ComparedTimeType(std::span<const Type> args) {
  Type time;
  for (const Type& arg : args) {
    if (arg.is_string() || arg.id() == TypeId::kNull) continue;
    if (!IsTimeOfDayOrDate(arg)) return Type();
    const bool both_instants = time.is_timestamp() && arg.is_timestamp();
    if (time.id() == TypeId::kNull) {
      time = arg;
    } else if (both_instants && time.id() != arg.id()) {
      time = Type::TimestampLtz(std::max(time.precision(), arg.precision()));
    } else if (time.id() != arg.id()) {
      return Type();
    }
  }
  // A text may say more digits than the column has.
  if (!time.is_timestamp()) return time;
  const int precision = std::max(time.precision(), 6);
  return time.id() == TypeId::kTimestamp ? Type::Timestamp(precision) : Type::TimestampLtz(precision);
}

// Both sides in the common type; NULL against NULL is compared as BOOLEAN.
Result<Type> ComparedType(std::span<const Type> args) {
  Result<Type> common = CommonType(args);
  if (!common.ok()) {
    const Type time = ComparedTimeType(args);
    if (time.id() != TypeId::kNull) return time;
  }
  if (!common.ok()) return Status::User(common.status().message()).Hint("write a CAST around one of them");
  if (common->id() == TypeId::kNull) return Type(TypeId::kBoolean);
  if (!IsComparable(*common)) {
    return Status::User(fmt::format("values of type {} cannot be compared", common->ToString()));
  }
  return *common;
}

Signature SameArguments(Type result, const Type& common, std::span<const Type> args) {
  Signature signature{std::move(result), {}};
  for (const Type& arg : args) {
    // Texts and times of one kind compare as they are, whatever their lengths.
    const bool as_is = arg.id() == common.id() || (arg.is_string() && common.is_string()) ||
                       (arg.is_binary() && common.is_binary());
    const bool same_form = arg.physical() == common.physical() && arg.scale() == common.scale();
    signature.args.push_back(as_is && same_form ? arg : common.WithNullable(arg.nullable()));
  }
  return signature;
}

Result<Signature> ResolveComparison(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, 2));
  ASSIGN_OR_RETURN(Type common, ComparedType(args));
  return SameArguments(Type(TypeId::kBoolean, AnyNullable(args)), common, args);
}

Result<Signature> ResolveDistinct(std::span<const Type> args, std::span<const Value* const> literals) {
  ASSIGN_OR_RETURN(Signature signature, ResolveComparison(args, literals));
  signature.result = Type(TypeId::kBoolean, false);
  return signature;
}

template <typename Compare>
ColumnPtr CompareStrings(KernelCall& call, Compare compare) {
  Output<uint8_t> out(call.physical_rows);
  uint8_t* to = out.values();
  const Column& left = *call.args[0];
  const Column& right = *call.args[1];
  if (left.encoding() == Encoding::kFlat && right.encoding() == Encoding::kConstant) {
    const StringView* a = left.values<StringView>();
    const StringView b = *right.values<StringView>();
    ForEachRow(call.rows, [&](int32_t row) { to[row] = compare(a[row], b); });
  } else {
    const ColumnView<StringView> a(left);
    const ColumnView<StringView> b(right);
    ForEachRow(call.rows, [&](int32_t row) { to[row] = compare(a[row], b[row]); });
  }
  return out.Finish(call.expr.type);
}

struct Equal {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return !(a == b);
  }
};
struct Less {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};
struct Greater {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return b < a;
  }
};
// Not the negations of the above: NaN is on neither side.
struct LessEqual {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    if constexpr (std::is_arithmetic_v<T>) return a <= b;
    return !(b < a);
  }
};
struct GreaterEqual {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    if constexpr (std::is_arithmetic_v<T>) return a >= b;
    return !(a < b);
  }
};

template <typename Compare>
ColumnPtr CompareKernel(KernelCall& call) {
  const Physical physical = call.args[0]->type().physical();
  if (physical == Physical::kString) return CompareStrings(call, Compare());
  return DispatchFixed(physical, [&]<typename T>() { return MapBinary<T, T, uint8_t>(call, Compare()); });
}

// IS [NOT] DISTINCT FROM: NULL equals NULL.
template <bool kDistinct>
ColumnPtr DistinctKernel(KernelCall& call) {
  Output<uint8_t> out(call.physical_rows);
  const Column& left = *call.args[0];
  const Column& right = *call.args[1];
  const auto compare = [&]<typename T>() {
    const ColumnView<T> a(left);
    const ColumnView<T> b(right);
    ForEachRow(call.rows, [&](int32_t row) {
      const bool a_null = a.IsNull(row);
      const bool b_null = b.IsNull(row);
      const bool same = a_null || b_null ? a_null == b_null : a[row] == b[row];
      out.Set(row, same != kDistinct);
    });
  };
  const Physical physical = left.type().physical();
  if (physical == Physical::kString) {
    compare.template operator()<StringView>();
  } else {
    DispatchFixed(physical, compare);
  }
  return out.Finish(call.expr.type);
}

Result<Signature> ResolveIsNull(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 1));
  return Signature{Type(TypeId::kBoolean, false), {args[0]}};
}

template <bool kWanted>
ColumnPtr IsNullKernel(KernelCall& call) {
  Output<uint8_t> out(call.physical_rows);
  const Column& column = *call.args[0];
  if (!column.may_have_nulls()) {
    std::memset(out.values(), kWanted ? 0 : 1, static_cast<size_t>(call.physical_rows));
  } else {
    ForEachRow(call.rows, [&](int32_t row) { out.Set(row, column.IsNull(row) == kWanted); });
  }
  return out.Finish(call.expr.type);
}

Result<Signature> ResolveIn(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, -1));
  ASSIGN_OR_RETURN(Type common, ComparedType(args));
  return SameArguments(Type(TypeId::kBoolean, AnyNullable(args)), common, args);
}

// x IN (a, b, …): TRUE if one is equal; else NULL if one is NULL; else FALSE.
template <typename T>
ColumnPtr InTyped(KernelCall& call) {
  Output<uint8_t> out(call.physical_rows);
  const ColumnView<T> needle(*call.args[0]);
  std::vector<ColumnView<T>> list;
  for (size_t i = 1; i < call.args.size(); ++i) list.emplace_back(*call.args[i]);
  ForEachRow(call.rows, [&](int32_t row) {
    if (needle.IsNull(row)) return out.SetNull(row);
    const T& value = needle[row];
    bool unknown = false;
    for (const ColumnView<T>& entry : list) {
      if (entry.IsNull(row)) {
        unknown = true;
      } else if (entry[row] == value) {
        return out.Set(row, 1);
      }
    }
    if (unknown) return out.SetNull(row);
    out.Set(row, 0);
  });
  return out.Finish(call.expr.type);
}

ColumnPtr InKernel(KernelCall& call) {
  const Physical physical = call.args[0]->type().physical();
  if (physical == Physical::kString) return InTyped<StringView>(call);
  return DispatchFixed(physical, [&]<typename T>() { return InTyped<T>(call); });
}

constexpr std::string_view kFamilyComparison = "comparison";

const ScalarFunction kComparison[] = {
    {"=", kFamilyComparison, "Equal; NULL if either side is.", "1 = 1.0", "TRUE", ResolveComparison,
     CompareKernel<Equal>},
    {"<>", kFamilyComparison, "Not equal; NULL if either side is.", "'a' <> 'b'", "TRUE", ResolveComparison,
     CompareKernel<NotEqual>},
    {"<", kFamilyComparison, "Less; strings by code point.", "'a' < 'ab'", "TRUE", ResolveComparison,
     CompareKernel<Less>},
    {"<=", kFamilyComparison, "Less or equal.", "2 <= 1", "FALSE", ResolveComparison,
     CompareKernel<LessEqual>},
    {">", kFamilyComparison, "Greater.", "1.5 > 1", "TRUE", ResolveComparison, CompareKernel<Greater>},
    {">=", kFamilyComparison, "Greater or equal.", "DATE '2024-02-29' >= DATE '2024-03-01'", "FALSE",
     ResolveComparison, CompareKernel<GreaterEqual>},
    {"IS DISTINCT FROM", kFamilyComparison, "Not equal, where NULL equals NULL.", "1 IS DISTINCT FROM NULL",
     "TRUE", ResolveDistinct, DistinctKernel<true>, false, true, false},
    {"IS NOT DISTINCT FROM", kFamilyComparison, "Equal, where NULL equals NULL.",
     "NULL IS NOT DISTINCT FROM NULL", "TRUE", ResolveDistinct, DistinctKernel<false>, false, true, false},
    {"IS NULL", kFamilyComparison, "Whether there is no value.", "'' IS NULL", "FALSE", ResolveIsNull,
     IsNullKernel<true>, false, true, false},
    {"IS NOT NULL", kFamilyComparison, "Whether there is a value.", "'' IS NOT NULL", "TRUE", ResolveIsNull,
     IsNullKernel<false>, false, true, false},
    {"IN", kFamilyComparison, "Equal to one of a list; a NULL in the list makes a miss unknown.",
     "2 IN (1, 2)", "TRUE", ResolveIn, InKernel, false, true, false},
};

}  // namespace

std::span<const ScalarFunction> ComparisonFunctions() { return kComparison; }

}  // namespace caudal
