#include "connect/iceberg/iceberg_types.h"

#include <fmt/format.h>

#include "data/column_view.h"

namespace caudal {
namespace {

using Id = iceberg::TypeId;

constexpr int kMicros = 6;

template <typename From>
ColumnPtr Widened(const Column& column, const Type& type) {
  const ColumnView<From> view(column);
  const int32_t rows = column.encoding() == Encoding::kConstant ? 1 : column.size();
  MutableBufferPtr values = Buffer::Allocate(static_cast<size_t>(rows) * sizeof(int32_t));
  int32_t* to = values->mutable_as<int32_t>();
  for (int32_t row = 0; row < rows; ++row) to[row] = view[row];
  ColumnPtr flat = Column::Flat(type, rows, values, column.validity_buffer());
  return column.encoding() == Encoding::kConstant ? Column::Constant(flat, column.size()) : flat;
}

iceberg::Type DecimalType(const Type& type) {
  iceberg::Type decimal(Id::kDecimal);
  decimal.precision = type.precision();
  decimal.scale = type.scale();
  return decimal;
}

}  // namespace

Result<iceberg::Type> IcebergTypeOf(const Field& column, int format_version) {
  const Type& type = column.type;
  const bool utc = type.id() == TypeId::kTimestampLtz;
  switch (type.id()) {
    case TypeId::kBoolean:
      return iceberg::Type(Id::kBoolean);
    case TypeId::kTinyInt:
    case TypeId::kSmallInt:
    case TypeId::kInt:
      return iceberg::Type(Id::kInt);
    case TypeId::kBigInt:
      return iceberg::Type(Id::kLong);
    case TypeId::kFloat:
      return iceberg::Type(Id::kFloat);
    case TypeId::kDouble:
      return iceberg::Type(Id::kDouble);
    case TypeId::kDecimal:
      return DecimalType(type);
    case TypeId::kChar:
    case TypeId::kVarChar:
      return iceberg::Type(Id::kString);
    case TypeId::kVarBinary:
      return iceberg::Type(Id::kBinary);
    case TypeId::kDate:
      return iceberg::Type(Id::kDate);
    case TypeId::kTimestamp:
    case TypeId::kTimestampLtz:
      if (type.precision() <= kMicros) return iceberg::Type(utc ? Id::kTimestampTz : Id::kTimestamp);
      if (format_version >= 3) return iceberg::Type(utc ? Id::kTimestampTzNs : Id::kTimestampNs);
      return Status::User(fmt::format("column '{}' is {}, and tables of format 2 keep microseconds",
                                      column.name, type.ToString()))
          .Hint("declare it with a precision of 6, or set 'format-version' = '3'");
    default:
      return Status::User(fmt::format("column '{}': connector 'iceberg' cannot hold {} yet", column.name,
                                      type.ToString()))
          .Hint("leave the column out, or CAST it to STRING");
  }
}

std::optional<Type> SqlTypeOf(const iceberg::Type& type) {
  switch (type.id) {
    case Id::kBoolean:
      return Type(TypeId::kBoolean);
    case Id::kInt:
      return Type(TypeId::kInt);
    case Id::kLong:
      return Type(TypeId::kBigInt);
    case Id::kFloat:
      return Type(TypeId::kFloat);
    case Id::kDouble:
      return Type(TypeId::kDouble);
    case Id::kDecimal:
      return Type::Decimal(type.precision, type.scale);
    case Id::kDate:
      return Type(TypeId::kDate);
    case Id::kTime:
      return Type::Time(3);
    case Id::kTimestamp:
      return Type::Timestamp(kMicros);
    case Id::kTimestampTz:
      return Type::TimestampLtz(kMicros);
    case Id::kTimestampNs:
      return Type::Timestamp(9);
    case Id::kTimestampTzNs:
      return Type::TimestampLtz(9);
    case Id::kString:
      return Type::String();
    case Id::kUuid:
    case Id::kFixed:
    case Id::kBinary:
      return Type::Bytes();
    default:
      return std::nullopt;
  }
}

Type FileTypeOf(const Type& type) {
  const bool small = type.id() == TypeId::kTinyInt || type.id() == TypeId::kSmallInt;
  return small ? Type(TypeId::kInt, type.nullable()) : type;
}

ColumnPtr FileColumn(const ColumnPtr& column) {
  const Type& type = column->type();
  if (type.id() == TypeId::kTinyInt) return Widened<int8_t>(*column, FileTypeOf(type));
  if (type.id() == TypeId::kSmallInt) return Widened<int16_t>(*column, FileTypeOf(type));
  return column;
}

Value IcebergValue(const iceberg::Type& type, Value value) {
  const int64_t* number = std::get_if<int64_t>(&value.data);
  if (type.id == Id::kDecimal && number != nullptr) return Value(int128_t{*number});
  return value;
}

}  // namespace caudal
