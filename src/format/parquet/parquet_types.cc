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

NodePtr MakeTimestamp(const std::string& name, Repetition::type repetition, const Type& type, int id) {
  const auto unit = type.precision() <= 6 ? LogicalType::TimeUnit::MICROS : LogicalType::TimeUnit::NANOS;
  const bool utc = type.id() == TypeId::kTimestampLtz;
  return PrimitiveNode::Make(name, repetition, LogicalType::Timestamp(utc, unit, false, true),
                             parquet::Type::INT64, -1, id);
}

NodePtr MakeDecimal(const std::string& name, Repetition::type repetition, const Type& type, int id) {
  const auto decimal = LogicalType::Decimal(type.precision(), type.scale());
  if (type.physical() == Physical::kInt64) {
    return PrimitiveNode::Make(name, repetition, decimal, parquet::Type::INT64, -1, id);
  }
  constexpr int kWidth = 16;
  return PrimitiveNode::Make(name, repetition, decimal, parquet::Type::FIXED_LEN_BYTE_ARRAY, kWidth, id);
}

// Null if the type has no form. `id`: of the field, −1 = it has none.
NodePtr MakeNode(const std::string& name, const Type& type, int id) {
  const auto repetition = type.nullable() ? Repetition::OPTIONAL : Repetition::REQUIRED;
  const auto plain = [&](parquet::Type::type physical) {
    return PrimitiveNode::Make(name, repetition, LogicalType::None(), physical, -1, id);
  };
  switch (type.id()) {
    case TypeId::kBoolean:
      return plain(parquet::Type::BOOLEAN);
    case TypeId::kTinyInt:
      return PrimitiveNode::Make(name, repetition, LogicalType::Int(8, true), parquet::Type::INT32, -1, id);
    case TypeId::kSmallInt:
      return PrimitiveNode::Make(name, repetition, LogicalType::Int(16, true), parquet::Type::INT32, -1, id);
    case TypeId::kInt:
      return plain(parquet::Type::INT32);
    case TypeId::kBigInt:
      return plain(parquet::Type::INT64);
    case TypeId::kFloat:
      return plain(parquet::Type::FLOAT);
    case TypeId::kDouble:
      return plain(parquet::Type::DOUBLE);
    case TypeId::kDecimal:
      return MakeDecimal(name, repetition, type, id);
    case TypeId::kChar:
    case TypeId::kVarChar:
      return PrimitiveNode::Make(name, repetition, LogicalType::String(), parquet::Type::BYTE_ARRAY, -1, id);
    case TypeId::kBinary:
    case TypeId::kVarBinary:
      return plain(parquet::Type::BYTE_ARRAY);
    case TypeId::kDate:
      return PrimitiveNode::Make(name, repetition, LogicalType::Date(), parquet::Type::INT32, -1, id);
    case TypeId::kTime:
      return PrimitiveNode::Make(name, repetition, LogicalType::Time(false, LogicalType::TimeUnit::MILLIS),
                                 parquet::Type::INT32, -1, id);
    case TypeId::kTimestamp:
    case TypeId::kTimestampLtz:
      return MakeTimestamp(name, repetition, type, id);
    default:
      return nullptr;
  }
}

}  // namespace

Result<std::shared_ptr<parquet::schema::GroupNode>> MakeParquetSchema(const Schema& schema,
                                                                      const std::vector<int32_t>& field_ids) {
  parquet::schema::NodeVector nodes;
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    const Field& field = schema.fields[i];
    NodePtr node = MakeNode(field.name, field.type, field_ids.empty() ? -1 : field_ids[i]);
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
