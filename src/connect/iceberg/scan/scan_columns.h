// ScanColumns: which columns a read asks for, and which fields of a table's schema they are.
//
// Values and pure functions; any thread.
#pragma once

#include <vector>

#include "api/connector.h"
#include "api/table.h"
#include "base/status.h"
#include "iceberg/metadata/schema.h"

namespace caudal {

// Fields of row lineage in data files, the same in every table.
inline constexpr int32_t kRowIdField = 2147483540;
inline constexpr int32_t kLastChangeField = 2147483539;
inline constexpr const char* kRowIdName = "_row_id";
inline constexpr const char* kLastChangeName = "_last_updated_sequence_number";

struct ScanColumn {
  // kRowId, kLastChange: of row lineage, format 3: BIGINT, NULL where the table does not know it.
  enum class From : uint8_t { kField, kSplit, kOffset, kRaw, kRowId, kLastChange } from = From::kField;
  std::string name;      // as declared
  Type type;             // as it is wanted
  iceberg::Field field;  // kField, once bound
};

// What the read asks for, in its order; not yet bound.
std::vector<ScanColumn> ScanColumnsOf(const Table& table, const ReadRequest& request);

// Every declared column must be a field of the schema by its exact name, and of a type that the declared one
// can hold: User error that names the column.
Status CheckScanColumns(const Table& table, const iceberg::Schema& schema);
// The same of the columns that are asked for alone: of a snapshot that had others than the table has now.
Status CheckAskedColumns(const Table& table, const std::vector<ScanColumn>& asked,
                         const iceberg::Schema& schema);
// The fields behind the columns. REQUIRES: CheckScanColumns was OK.
void BindScanColumns(const iceberg::Schema& schema, std::vector<ScanColumn>* columns);

// The type that a data file's column is read as: INT for the smaller integers, which Iceberg has not.
Type ReadType(const Type& wanted);
// A column of ReadType(wanted) as `wanted`. Data error for a number that does not fit.
Result<ColumnPtr> NarrowColumn(const ColumnPtr& column, const Type& wanted);

}  // namespace caudal
