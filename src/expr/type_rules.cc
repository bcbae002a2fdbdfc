#include "expr/type_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace caudal {
namespace {

constexpr int kMaxPrecision = 38;
constexpr int kKeptScale = 6;

int WholeDigits(const Type& decimal) { return decimal.precision() - decimal.scale(); }

int IntegerDigits(TypeId id) {
  switch (id) {
    case TypeId::kTinyInt:
      return 3;
    case TypeId::kSmallInt:
      return 5;
    case TypeId::kInt:
      return 10;
    default:
      return 19;
  }
}

bool IsApproximate(const Type& type) { return type.id() == TypeId::kFloat || type.id() == TypeId::kDouble; }

// One step of the numeric widening; the first approximate type stays, as in Calcite.
Type WidenNumbers(const Type& left, const Type& right) {
  if (IsApproximate(left) || IsApproximate(right)) {
    const Type& approximate = IsApproximate(left) ? left : right;
    const Type& other = IsApproximate(left) ? right : left;
    return other.id() == TypeId::kDecimal ? Type(TypeId::kDouble) : Type(approximate.id());
  }
  if (left.id() == TypeId::kDecimal || right.id() == TypeId::kDecimal) {
    const Type a = AsDecimal(left);
    const Type b = AsDecimal(right);
    const int scale = std::max(a.scale(), b.scale());
    const int whole = std::max(WholeDigits(a), WholeDigits(b));
    return Type::Decimal(std::min(whole + scale, kMaxPrecision), std::min(scale, kMaxPrecision - whole));
  }
  return Type(std::max(left.id(), right.id()));
}

Type WidenTexts(const Type& left, const Type& right, TypeId fixed) {
  const int32_t length = std::max(left.length(), right.length());
  const bool same = left.id() == fixed && right.id() == fixed && left.length() == right.length();
  if (fixed == TypeId::kChar) return same ? Type::Char(length) : Type::VarChar(length);
  return same ? Type::Binary(length) : Type::VarBinary(length);
}

Result<Type> Widen(const Type& left, const Type& right);

Result<Type> WidenChildren(const Type& left, const Type& right) {
  const std::vector<Field>& a = left.children();
  const std::vector<Field>& b = right.children();
  std::vector<Field> fields;
  for (size_t i = 0; i < a.size(); ++i) {
    ASSIGN_OR_RETURN(Type type, Widen(a[i].type, b[i].type));
    fields.push_back({a[i].name, type.WithNullable(a[i].type.nullable() || b[i].type.nullable())});
  }
  if (left.id() == TypeId::kArray) return Type::Array(fields[0].type);
  if (left.id() == TypeId::kMap) return Type::Map(fields[0].type, fields[1].type);
  return Type::Row(std::move(fields));
}

Result<Type> Widen(const Type& left, const Type& right) {
  const auto none = [&] {
    return Status::User(fmt::format("{} and {} have no common type", left.WithNullable(true).ToString(),
                                    right.WithNullable(true).ToString()))
        .Hint("make them one type, as with CAST(x AS STRING)");
  };
  if (left.id() == TypeId::kNull) return right;
  if (right.id() == TypeId::kNull) return left;
  if (left.is_numeric() && right.is_numeric()) return WidenNumbers(left, right);
  if (left.is_string() && right.is_string()) return WidenTexts(left, right, TypeId::kChar);
  if (left.is_binary() && right.is_binary()) {
    return WidenTexts(left, right, TypeId::kBinary);
  }
  if (left.id() != right.id() || left.children().size() != right.children().size()) return none();
  if (left.id() == TypeId::kTime || left.is_timestamp()) {
    return left.precision() >= right.precision() ? left : right;
  }
  if (!left.children().empty()) return WidenChildren(left, right);
  return left;
}

}  // namespace

Type AsDecimal(const Type& type) {
  if (type.id() == TypeId::kDecimal) return type;
  return Type::Decimal(IntegerDigits(type.id()), 0);
}

Type AdjustedDecimal(int precision, int scale) {
  if (precision <= kMaxPrecision) return Type::Decimal(precision, scale);
  const int whole = precision - scale;
  return Type::Decimal(kMaxPrecision, std::max(kMaxPrecision - whole, std::min(scale, kKeptScale)));
}

Type DecimalSum(const Type& left, const Type& right) {
  const int scale = std::max(left.scale(), right.scale());
  return AdjustedDecimal(std::max(WholeDigits(left), WholeDigits(right)) + scale + 1, scale);
}

Type DecimalProduct(const Type& left, const Type& right) {
  return AdjustedDecimal(left.precision() + right.precision() + 1, left.scale() + right.scale());
}

Type DecimalQuotient(const Type& left, const Type& right) {
  const int scale = std::max(kKeptScale, left.scale() + right.precision() + 1);
  return AdjustedDecimal(WholeDigits(left) + right.scale() + scale, scale);
}

Type DecimalRemainder(const Type& left, const Type& right) {
  const int scale = std::max(left.scale(), right.scale());
  return AdjustedDecimal(std::min(WholeDigits(left), WholeDigits(right)) + scale, scale);
}

bool AnyNullable(std::span<const Type> types) {
  return std::any_of(types.begin(), types.end(), [](const Type& type) { return type.nullable(); });
}
bool IsInterval(const Type& type) {
  return type.id() == TypeId::kIntervalDayTime || type.id() == TypeId::kIntervalYearMonth;
}
bool IsText(const Type& type) { return type.is_string() || type.id() == TypeId::kNull; }
bool IsNumeric(const Type& type) { return type.is_numeric() || type.id() == TypeId::kNull; }

Status WrongArgument(size_t index, const Type& type, std::string_view expected) {
  return Status::User(
      fmt::format("argument {} is {}, expected {}", index + 1, type.WithNullable(true).ToString(), expected));
}

Status ExpectCount(size_t count, int low, int high) {
  const int given = static_cast<int>(count);
  if (given >= low && (high < 0 || given <= high)) return Status();
  const std::string expected = high < 0          ? fmt::format("at least {}", low)
                               : low == high     ? fmt::format("{}", low)
                               : high - low == 1 ? fmt::format("{} or {}", low, high)
                                                 : fmt::format("{} to {}", low, high);
  return Status::User(fmt::format("{} arguments given, expected {}", given, expected));
}

Signature Strict(Type result, std::span<const Type> args) {
  return {result.WithNullable(AnyNullable(args)), {args.begin(), args.end()}};
}

Result<Type> CommonType(std::span<const Type> types) {
  Type common;
  bool nullable = false;
  for (const Type& type : types) {
    nullable |= type.nullable();
    ASSIGN_OR_RETURN(common, Widen(common, type));
  }
  return common.WithNullable(nullable);
}

bool CanStoreImplicitly(const Type& from, const Type& to) {
  if (from.id() == TypeId::kNull) return true;
  if (from.is_numeric() && to.is_numeric()) {
    if (to.id() == TypeId::kDecimal || to.id() == TypeId::kDouble) return true;
    if (to.id() == TypeId::kFloat) return from.id() != TypeId::kDouble;
    return from.is_integer() && to.id() >= from.id();
  }
  if (from.is_string()) return to.is_string();
  if (from.is_binary()) return to.is_binary();
  if (from.id() == TypeId::kTimestamp) {
    return to.is_timestamp() || to.id() == TypeId::kDate || to.id() == TypeId::kTime;
  }
  if (from.id() == TypeId::kTimestampLtz) return to.is_timestamp();
  if (from.id() != to.id() || from.children().size() != to.children().size()) return false;
  for (size_t i = 0; i < from.children().size(); ++i) {
    if (!CanStoreImplicitly(from.children()[i].type, to.children()[i].type)) return false;
  }
  return true;
}

}  // namespace caudal
