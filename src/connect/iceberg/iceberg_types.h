// Types of columns in SQL and in Iceberg, and values in the form that src/iceberg has (iceberg/transform.h).
//
// Pure functions; any thread.
#pragma once

#include <optional>

#include "base/status.h"
#include "data/schema.h"
#include "data/value.h"
#include "iceberg/metadata/schema.h"

namespace caudal {

// As Flink maps them: TINYINT and SMALLINT are ints, nanoseconds want format 3. User error, which names the
// column, for a type that is not written yet.
Result<iceberg::Type> IcebergTypeOf(const Field& column, int format_version);
// Nothing for a type that cannot be read yet.
std::optional<Type> SqlTypeOf(const iceberg::Type& type);
// What stands in a data file for a column that is written: INT for the smaller integers.
Type FileTypeOf(const Type& type);
// The column as FileTypeOf has it.
ColumnPtr FileColumn(const ColumnPtr& column);

// A value of SQL's physical form in Iceberg's.
Value IcebergValue(const iceberg::Type& type, Value value);

}  // namespace caudal
