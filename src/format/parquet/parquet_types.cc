#include "format/parquet/parquet_types.h"

#include <fmt/format.h>
#include <parquet/exception.h>
#include <parquet/schema.h>

namespace caudal {
namespace {

using parquet::LogicalType;
using parquet::Repetition;
using parquet::schema::NodePtr;
using parquet::schema::PrimitiveNode;

NodePtr MakeTimestamp(const std::string& name, Repetition::type repetition, const Type& type) {
  const auto unit = type.precision() <= 6 ? LogicalType::TimeUnit::MICROS : LogicalType::TimeUnit::NANOS;
  const bool utc = type.id() == TypeId::kTimestampLtz;
  return PrimitiveNode::Make(name, repetition, LogicalType::Timestamp(utc, unit, false, true),
                             parquet::Type::INT64);
}

NodePtr MakeDecimal(const std::string& name, Repetition::type repetition, const Type& type) {
  const auto decimal = LogicalType::Decimal(type.precision(), type.scale());
  if (type.physical() == Physical::kInt64) {
    return PrimitiveNode::Make(name, repetition, decimal, parquet::Type::INT64);
  }
  constexpr int kWidth = 16;
  return PrimitiveNode::Make(name, repetition, decimal, parquet::Type::FIXED_LEN_BYTE_ARRAY, kWidth);
}

// Null if the type has no form.
NodePtr MakeNode(const std::string& name, const Type& type) {
  const auto repetition = type.nullable() ? Repetition::OPTIONAL : Repetition::REQUIRED;
  switch (type.id()) {
    case TypeId::kBoolean:
      return PrimitiveNode::Make(name, repetition, parquet::Type::BOOLEAN);
    case TypeId::kTinyInt:
      return PrimitiveNode::Make(name, repetition, LogicalType::Int(8, true), parquet::Type::INT32);
    case TypeId::kSmallInt:
      return PrimitiveNode::Make(name, repetition, LogicalType::Int(16, true), parquet::Type::INT32);
    case TypeId::kInt:
      return PrimitiveNode::Make(name, repetition, parquet::Type::INT32);
    case TypeId::kBigInt:
      return PrimitiveNode::Make(name, repetition, parquet::Type::INT64);
    case TypeId::kFloat:
      return PrimitiveNode::Make(name, repetition, parquet::Type::FLOAT);
    case TypeId::kDouble:
      return PrimitiveNode::Make(name, repetition, parquet::Type::DOUBLE);
    case TypeId::kDecimal:
      return MakeDecimal(name, repetition, type);
    case TypeId::kChar:
    case TypeId::kVarChar:
      return PrimitiveNode::Make(name, repetition, LogicalType::String(), parquet::Type::BYTE_ARRAY);
    case TypeId::kBinary:
    case TypeId::kVarBinary:
      return PrimitiveNode::Make(name, repetition, parquet::Type::BYTE_ARRAY);
    case TypeId::kDate:
      return PrimitiveNode::Make(name, repetition, LogicalType::Date(), parquet::Type::INT32);
    case TypeId::kTime:
      return PrimitiveNode::Make(name, repetition, LogicalType::Time(false, LogicalType::TimeUnit::MILLIS),
                                 parquet::Type::INT32);
    case TypeId::kTimestamp:
    case TypeId::kTimestampLtz:
      return MakeTimestamp(name, repetition, type);
    default:
      return nullptr;
  }
}

}  // namespace

Result<std::shared_ptr<parquet::schema::GroupNode>> MakeParquetSchema(const Schema& schema) {
  parquet::schema::NodeVector nodes;
  for (const Field& field : schema.fields) {
    NodePtr node = MakeNode(field.name, field.type);
    if (node == nullptr) {
      return Status::User(fmt::format("format 'parquet' cannot write column '{}' of type {} yet", field.name,
                                      field.type.ToString()))
          .Hint("leave the column out, or CAST it to STRING");
    }
    nodes.push_back(std::move(node));
  }
  return std::static_pointer_cast<parquet::schema::GroupNode>(
      parquet::schema::GroupNode::Make("schema", Repetition::REQUIRED, nodes));
}

}  // namespace caudal
