#include "data/type.h"

#include <fmt/format.h>

namespace caudal {
namespace {

const std::vector<Field>& NoChildren() {
  static const std::vector<Field> none;
  return none;
}

std::string BaseName(const Type& type) {
  const int32_t p = type.precision();
  switch (type.id()) {
    case TypeId::kNull:
      return "NULL";
    case TypeId::kBoolean:
      return "BOOLEAN";
    case TypeId::kTinyInt:
      return "TINYINT";
    case TypeId::kSmallInt:
      return "SMALLINT";
    case TypeId::kInt:
      return "INT";
    case TypeId::kBigInt:
      return "BIGINT";
    case TypeId::kFloat:
      return "FLOAT";
    case TypeId::kDouble:
      return "DOUBLE";
    case TypeId::kDecimal:
      return fmt::format("DECIMAL({}, {})", p, type.scale());
    case TypeId::kChar:
      return fmt::format("CHAR({})", p);
    case TypeId::kVarChar:
      return p == Type::kMaxLength ? "STRING" : fmt::format("VARCHAR({})", p);
    case TypeId::kBinary:
      return fmt::format("BINARY({})", p);
    case TypeId::kVarBinary:
      return p == Type::kMaxLength ? "BYTES" : fmt::format("VARBINARY({})", p);
    case TypeId::kDate:
      return "DATE";
    case TypeId::kTime:
      return fmt::format("TIME({})", p);
    case TypeId::kTimestamp:
      return fmt::format("TIMESTAMP({})", p);
    case TypeId::kTimestampLtz:
      return fmt::format("TIMESTAMP_LTZ({})", p);
    case TypeId::kIntervalYearMonth:
      return "INTERVAL MONTH";
    case TypeId::kIntervalDayTime:
      return "INTERVAL SECOND(3)";
    default:
      return "";
  }
}

}  // namespace

Type Type::Array(Type element) {
  Type type(TypeId::kArray);
  type.children_ =
      std::make_shared<const std::vector<Field>>(std::vector<Field>{{"element", std::move(element)}});
  return type;
}

Type Type::Map(Type key, Type value) {
  Type type(TypeId::kMap);
  type.children_ = std::make_shared<const std::vector<Field>>(
      std::vector<Field>{{"key", std::move(key)}, {"value", std::move(value)}});
  return type;
}

Type Type::Row(std::vector<Field> fields) {
  Type type(TypeId::kRow);
  type.children_ = std::make_shared<const std::vector<Field>>(std::move(fields));
  return type;
}

const std::vector<Field>& Type::children() const { return children_ ? *children_ : NoChildren(); }

Physical Type::physical() const {
  switch (id_) {
    case TypeId::kNull:
      return Physical::kNull;
    case TypeId::kBoolean:
      return Physical::kBool;
    case TypeId::kTinyInt:
      return Physical::kInt8;
    case TypeId::kSmallInt:
      return Physical::kInt16;
    case TypeId::kInt:
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kIntervalYearMonth:
      return Physical::kInt32;
    case TypeId::kBigInt:
    case TypeId::kTimestamp:
    case TypeId::kTimestampLtz:
    case TypeId::kIntervalDayTime:
      return Physical::kInt64;
    case TypeId::kFloat:
      return Physical::kFloat;
    case TypeId::kDouble:
      return Physical::kDouble;
    case TypeId::kDecimal:
      return precision_ <= 18 ? Physical::kInt64 : Physical::kInt128;
    case TypeId::kChar:
    case TypeId::kVarChar:
    case TypeId::kBinary:
    case TypeId::kVarBinary:
      return Physical::kString;
    case TypeId::kArray:
      return Physical::kArray;
    case TypeId::kMap:
      return Physical::kMap;
    case TypeId::kRow:
      return Physical::kRow;
  }
  return Physical::kNull;
}

std::string Type::ToString() const {
  std::string text;
  if (id_ == TypeId::kArray) {
    text = fmt::format("ARRAY<{}>", children()[0].type.ToString());
  } else if (id_ == TypeId::kMap) {
    text = fmt::format("MAP<{}, {}>", children()[0].type.ToString(), children()[1].type.ToString());
  } else if (id_ == TypeId::kRow) {
    text = "ROW<";
    for (const Field& field : children()) {
      text += fmt::format("{}`{}` {}", text.size() > 4 ? ", " : "", field.name, field.type.ToString());
    }
    text += ">";
  } else {
    text = BaseName(*this);
  }
  return nullable_ ? text : text + " NOT NULL";
}

bool Type::operator==(const Type& other) const {
  return id_ == other.id_ && nullable_ == other.nullable_ && precision_ == other.precision_ &&
         scale_ == other.scale_ && children() == other.children();
}

bool Type::EqualsIgnoringNullability(const Type& other) const {
  if (id_ != other.id_ || precision_ != other.precision_ || scale_ != other.scale_) return false;
  const auto& left = children();
  const auto& right = other.children();
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (id_ == TypeId::kRow && left[i].name != right[i].name) return false;
    if (!left[i].type.EqualsIgnoringNullability(right[i].type)) return false;
  }
  return true;
}

}  // namespace caudal
