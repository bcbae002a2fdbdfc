#include "sql/literal/type_binder.h"

#include <fmt/format.h>

namespace caudal::sql {
namespace {

struct SimpleType {
  std::string_view name;
  TypeId id;
};

constexpr SimpleType kSimpleTypes[] = {
    {"BOOLEAN", TypeId::kBoolean}, {"TINYINT", TypeId::kTinyInt}, {"SMALLINT", TypeId::kSmallInt},
    {"INT", TypeId::kInt},         {"BIGINT", TypeId::kBigInt},   {"FLOAT", TypeId::kFloat},
    {"DOUBLE", TypeId::kDouble},   {"DATE", TypeId::kDate},
};

// The number in the parentheses, or the default; refused outside low … high.
Result<int> Parameter(const TypeName& name, const SourceText& source, std::string_view what,
                      std::optional<int> value, int fallback, int low, int high) {
  int number = value.value_or(fallback);
  if (number >= low && number <= high) return number;
  return ErrorAt(source, name.range,
                 fmt::format("the {} of {} must be {} to {}, not {}", what, name.name, low, high, number));
}

Result<Type> BindDecimal(const TypeName& name, const SourceText& source) {
  ASSIGN_OR_RETURN(int precision, Parameter(name, source, "precision", name.precision, 10, 1, 38));
  ASSIGN_OR_RETURN(int scale, Parameter(name, source, "scale", name.scale, 0, 0, precision));
  return Type::Decimal(precision, scale);
}

Result<Type> BindNested(const TypeName& name, const SourceText& source) {
  std::vector<Field> fields;
  for (const TypeField& child : name.children) {
    ASSIGN_OR_RETURN(Type type, BindType(child.type, source));
    for (const Field& field : fields) {
      if (name.name == "ROW" && field.name == child.name.text) {
        return ErrorAt(source, child.name.range, fmt::format("the ROW has two fields '{}'", field.name));
      }
    }
    fields.push_back({child.name.text, std::move(type)});
  }
  if (name.name == "ROW") return Type::Row(std::move(fields));
  if (name.name == "ARRAY") return Type::Array(std::move(fields[0].type));
  if (name.name == "MAP") return Type::Map(std::move(fields[0].type), std::move(fields[1].type));
  return NotBuiltAt(source, name.range, fmt::format("the type {}", name.name));
}

Result<Type> BindNullable(const TypeName& name, const SourceText& source) {
  for (const SimpleType& simple : kSimpleTypes) {
    if (simple.name == name.name) return Type(simple.id);
  }
  const std::string& word = name.name;
  if (word == "STRING") return Type::String();
  if (word == "BYTES") return Type::Bytes();
  if (word == "DECIMAL") return BindDecimal(name, source);
  if (word == "CHAR" || word == "VARCHAR" || word == "BINARY" || word == "VARBINARY") {
    ASSIGN_OR_RETURN(int length, Parameter(name, source, "length", name.precision, 1, 1, Type::kMaxLength));
    return word == "CHAR"      ? Type::Char(length)
           : word == "VARCHAR" ? Type::VarChar(length)
           : word == "BINARY"  ? Type::Binary(length)
                               : Type::VarBinary(length);
  }
  if (word == "TIME") {
    ASSIGN_OR_RETURN(int precision, Parameter(name, source, "precision", name.precision, 0, 0, 9));
    return Type::Time(precision);
  }
  if (word == "TIMESTAMP" || word == "TIMESTAMP_LTZ") {
    ASSIGN_OR_RETURN(int precision, Parameter(name, source, "precision", name.precision, 6, 0, 9));
    return word == "TIMESTAMP" ? Type::Timestamp(precision) : Type::TimestampLtz(precision);
  }
  return BindNested(name, source);
}

}  // namespace

Result<Type> BindType(const TypeName& name, const SourceText& source) {
  ASSIGN_OR_RETURN(Type type, BindNullable(name, source));
  return type.WithNullable(!name.not_null);
}

}  // namespace caudal::sql
