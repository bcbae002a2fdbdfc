// Arrow's arrays as columns, copied. Lives in the Parquet module.
#pragma once

#include <memory>
#include <optional>

#include "base/status.h"
#include "data/column.h"

namespace arrow {
class Array;
class DataType;
}  // namespace arrow

namespace caudal {

// The caudal type for an Arrow type; nothing if there is none.
std::optional<Type> TypeFromArrow(const arrow::DataType& type, bool nullable);

// `count` values from `offset` on, as `type`. User error, naming both types, if that would lose something.
Result<ColumnPtr> ColumnFromArrow(const arrow::Array& array, int64_t offset, int32_t count, const Type& type);

}  // namespace caudal
