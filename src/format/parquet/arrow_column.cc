#include "format/parquet/arrow_column.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>
#include <fmt/format.h>

#include <cstring>

#include "data/int128.h"
#include "data/string_view.h"

namespace caudal {
namespace {

constexpr int64_t kPowersOfThousand[] = {1, 1'000, 1'000'000, 1'000'000'000};

// 0 for seconds … 3 for nanoseconds.
int UnitOf(const arrow::DataType& type) {
  return static_cast<int>(static_cast<const arrow::TimestampType&>(type).unit());
}

BufferPtr CopyValidity(const arrow::Array& array, int64_t offset, int32_t count) {
  if (array.null_count() == 0) return nullptr;
  const size_t words = (static_cast<size_t>(count) + 63) / 64;
  MutableBufferPtr bits = Buffer::Allocate(words * sizeof(uint64_t));
  uint64_t* to = bits->mutable_as<uint64_t>();
  std::fill_n(to, words, 0);
  for (int32_t i = 0; i < count; ++i) {
    if (array.IsValid(offset + i)) to[i >> 6] |= uint64_t{1} << (i & 63);
  }
  return bits;
}

struct Slice {
  const arrow::Array& array;
  int64_t offset;
  int32_t count;
};

// `value`: of a row that is not NULL.
template <typename To, typename Value>
ColumnPtr Fill(const Slice& slice, const Type& type, Value value) {
  MutableBufferPtr buffer = Buffer::Allocate(static_cast<size_t>(slice.count) * sizeof(To));
  To* to = buffer->mutable_as<To>();
  for (int32_t i = 0; i < slice.count; ++i) {
    to[i] = slice.array.IsValid(slice.offset + i) ? static_cast<To>(value(slice.offset + i)) : To();
  }
  return Column::Flat(type, slice.count, buffer, CopyValidity(slice.array, slice.offset, slice.count));
}

template <typename ArrowArray>
ColumnPtr FillIntegers(const Slice& slice, const Type& type) {
  const auto& array = static_cast<const ArrowArray&>(slice.array);
  const auto value = [&](int64_t row) { return array.Value(row); };
  switch (type.physical()) {
    case Physical::kInt8:
      return Fill<int8_t>(slice, type, value);
    case Physical::kInt16:
      return Fill<int16_t>(slice, type, value);
    case Physical::kInt32:
      return Fill<int32_t>(slice, type, value);
    default:
      return Fill<int64_t>(slice, type, value);
  }
}

template <typename ArrowArray>
ColumnPtr FillStrings(const Slice& slice, const Type& type) {
  const auto& array = static_cast<const ArrowArray&>(slice.array);
  size_t bytes = 0;
  for (int32_t i = 0; i < slice.count; ++i) bytes += array.GetView(slice.offset + i).size();
  MutableBufferPtr text = Buffer::Allocate(bytes);
  char* to = text->mutable_data();
  ColumnPtr column = Fill<StringView>(slice, type, [&](int64_t row) {
    const auto view = array.GetView(row);
    std::memcpy(to, view.data(), view.size());
    const StringView copied(std::string_view(to, view.size()));
    to += view.size();
    return copied;
  });
  return Column::Flat(type, slice.count, column->values_buffer(), column->validity_buffer(), {text});
}

template <typename ArrowArray>
ColumnPtr FillDecimals(const Slice& slice, const Type& type) {
  const auto& array = static_cast<const ArrowArray&>(slice.array);
  const auto value = [&](int64_t row) {
    const arrow::Decimal128 decimal(reinterpret_cast<const uint8_t*>(array.GetValue(row)));
    return static_cast<int128_t>(decimal.high_bits()) << 64 | decimal.low_bits();
  };
  return type.physical() == Physical::kInt64 ? Fill<int64_t>(slice, type, value)
                                             : Fill<int128_t>(slice, type, value);
}

ColumnPtr FillTimestamps(const Slice& slice, const Type& type) {
  const auto& array = static_cast<const arrow::TimestampArray&>(slice.array);
  const int from = UnitOf(*slice.array.type());
  const int to = type.precision() <= 6 ? 2 : 3;
  const int64_t factor = to > from ? kPowersOfThousand[to - from] : 1;
  const int64_t divisor = from > to ? kPowersOfThousand[from - to] : 1;
  return Fill<int64_t>(slice, type, [&](int64_t row) {
    const int64_t ticks = array.Value(row);
    const int64_t floored = ticks / divisor - (ticks % divisor < 0 ? 1 : 0);
    return floored * factor;
  });
}

// Milliseconds, as TIME has them; what is finer is cut.
ColumnPtr FillTimes(const Slice& slice, const Type& type) {
  const auto& array = static_cast<const arrow::Time64Array&>(slice.array);
  const auto unit = static_cast<const arrow::Time64Type&>(*slice.array.type()).unit();
  const int64_t divisor = unit == arrow::TimeUnit::MICRO ? 1'000 : 1'000'000;
  return Fill<int32_t>(slice, type, [&](int64_t row) { return array.Value(row) / divisor; });
}

// The values that the codes of a dictionary stand for.
arrow::Result<std::shared_ptr<arrow::Array>> Spell(const arrow::DictionaryArray& array, int64_t offset,
                                                   int32_t count) {
  std::unique_ptr<arrow::ArrayBuilder> builder;
  ARROW_RETURN_NOT_OK(arrow::MakeBuilder(arrow::default_memory_pool(), array.dictionary()->type(), &builder));
  const arrow::ArraySpan values(*array.dictionary()->data());
  for (int64_t row = offset; row < offset + count; ++row) {
    ARROW_RETURN_NOT_OK(array.IsNull(row) ? builder->AppendNull()
                                          : builder->AppendArraySlice(values, array.GetValueIndex(row), 1));
  }
  return builder->Finish();
}

bool Holds(const Type& wanted, const Type& file) {
  if (wanted.is_integer() && file.is_integer()) return wanted.id() >= file.id();
  if (wanted.is_string() && file.is_string()) return true;
  if (wanted.is_binary() && (file.is_binary() || file.is_string())) return true;
  if (wanted.id() == TypeId::kDecimal && file.id() == TypeId::kDecimal) {
    return wanted.scale() == file.scale() && wanted.precision() >= file.precision();
  }
  if (wanted.is_timestamp() || wanted.id() == TypeId::kTime) return wanted.id() == file.id();
  if (wanted.id() == TypeId::kDouble) return file.id() == TypeId::kDouble || file.id() == TypeId::kFloat;
  return wanted.id() == file.id();
}

}  // namespace

std::optional<Type> TypeFromArrow(const arrow::DataType& type, bool nullable) {
  const auto simple = [&](TypeId id) { return Type(id, nullable); };
  switch (type.id()) {
    case arrow::Type::BOOL:
      return simple(TypeId::kBoolean);
    case arrow::Type::INT8:
      return simple(TypeId::kTinyInt);
    case arrow::Type::INT16:
    case arrow::Type::UINT8:
      return simple(TypeId::kSmallInt);
    case arrow::Type::INT32:
    case arrow::Type::UINT16:
      return simple(TypeId::kInt);
    case arrow::Type::INT64:
    case arrow::Type::UINT32:
      return simple(TypeId::kBigInt);
    case arrow::Type::FLOAT:
      return simple(TypeId::kFloat);
    case arrow::Type::DOUBLE:
      return simple(TypeId::kDouble);
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
      return Type::String().WithNullable(nullable);
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::FIXED_SIZE_BINARY:
      return Type::Bytes().WithNullable(nullable);
    case arrow::Type::DATE32:
      return simple(TypeId::kDate);
    case arrow::Type::UINT64:
      return Type::Decimal(20, 0).WithNullable(nullable);
    case arrow::Type::DICTIONARY:
      return TypeFromArrow(*static_cast<const arrow::DictionaryType&>(type).value_type(), nullable);
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
      return Type::Time(3).WithNullable(nullable);
    case arrow::Type::TIMESTAMP: {
      const auto& timestamp = static_cast<const arrow::TimestampType&>(type);
      const int precision = UnitOf(type) * 3;
      return (timestamp.timezone().empty() ? Type::Timestamp(precision) : Type::TimestampLtz(precision))
          .WithNullable(nullable);
    }
    case arrow::Type::DECIMAL128: {
      const auto& decimal = static_cast<const arrow::Decimal128Type&>(type);
      return Type::Decimal(decimal.precision(), decimal.scale()).WithNullable(nullable);
    }
    default:
      return std::nullopt;
  }
}

Result<ColumnPtr> ColumnFromArrow(const arrow::Array& array, int64_t offset, int32_t count,
                                  const Type& type) {
  const std::optional<Type> file = TypeFromArrow(*array.type(), true);
  if (!file.has_value() || !Holds(type, *file)) {
    return Status::User(fmt::format("it is {} in the file, not {}", array.type()->ToString(),
                                    type.WithNullable(true).ToString()));
  }
  if (array.type_id() == arrow::Type::DICTIONARY) {
    const auto spelled = Spell(static_cast<const arrow::DictionaryArray&>(array), offset, count);
    if (!spelled.ok()) return Status::Internal(spelled.status().ToString());
    return ColumnFromArrow(**spelled, 0, count, type);
  }
  const Slice slice{array, offset, count};
  switch (array.type_id()) {
    case arrow::Type::BOOL: {
      const auto& bools = static_cast<const arrow::BooleanArray&>(array);
      return Fill<uint8_t>(slice, type, [&](int64_t row) { return bools.Value(row) ? 1 : 0; });
    }
    case arrow::Type::INT8:
      return FillIntegers<arrow::Int8Array>(slice, type);
    case arrow::Type::INT16:
      return FillIntegers<arrow::Int16Array>(slice, type);
    case arrow::Type::INT32:
      return FillIntegers<arrow::Int32Array>(slice, type);
    case arrow::Type::INT64:
      return FillIntegers<arrow::Int64Array>(slice, type);
    case arrow::Type::UINT8:
      return FillIntegers<arrow::UInt8Array>(slice, type);
    case arrow::Type::UINT16:
      return FillIntegers<arrow::UInt16Array>(slice, type);
    case arrow::Type::UINT32:
      return FillIntegers<arrow::UInt32Array>(slice, type);
    case arrow::Type::DATE32:
      return FillIntegers<arrow::Date32Array>(slice, type);
    case arrow::Type::TIME32:
      return FillIntegers<arrow::Time32Array>(slice, type);
    case arrow::Type::FLOAT: {
      const auto& floats = static_cast<const arrow::FloatArray&>(array);
      const auto value = [&](int64_t row) { return floats.Value(row); };
      return type.id() == TypeId::kFloat ? Fill<float>(slice, type, value) : Fill<double>(slice, type, value);
    }
    case arrow::Type::DOUBLE: {
      const auto& doubles = static_cast<const arrow::DoubleArray&>(array);
      return Fill<double>(slice, type, [&](int64_t row) { return doubles.Value(row); });
    }
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return FillStrings<arrow::BinaryArray>(slice, type);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return FillStrings<arrow::LargeBinaryArray>(slice, type);
    case arrow::Type::FIXED_SIZE_BINARY:
      return FillStrings<arrow::FixedSizeBinaryArray>(slice, type);
    case arrow::Type::TIMESTAMP:
      return FillTimestamps(slice, type);
    case arrow::Type::TIME64:
      return FillTimes(slice, type);
    case arrow::Type::UINT64: {
      const auto& numbers = static_cast<const arrow::UInt64Array&>(array);
      return Fill<int128_t>(slice, type, [&](int64_t row) { return numbers.Value(row); });
    }
    case arrow::Type::DECIMAL128:
      return FillDecimals<arrow::Decimal128Array>(slice, type);
    default:
      return Status::User(fmt::format("{} cannot be read", array.type()->ToString()));
  }
}

}  // namespace caudal
