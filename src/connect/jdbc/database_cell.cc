#include "connect/jdbc/database_cell.h"

#include <limits>

#include "api/segment/cell.h"
#include "data/text/number_text.h"
#include "data/text/time_text.h"
#include "data/text/utf8_text.h"

namespace caudal {
namespace {

template <typename T>
bool AppendInteger(int64_t value, ColumnBuilder* builder) {
  if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) return false;
  builder->Append(static_cast<T>(value));
  return true;
}

// Databases without a type for it hold a number, or a text of one.
bool ReadInteger(const SqliteStatement& row, int column, int64_t* value) {
  if (row.storage(column) == SqliteStatement::Storage::kInteger) {
    *value = row.integer(column);
    return true;
  }
  return row.storage(column) == SqliteStatement::Storage::kText && ParseWholeInteger(row.text(column), value);
}

bool ReadReal(const SqliteStatement& row, int column, double* value) {
  const SqliteStatement::Storage storage = row.storage(column);
  if (storage == SqliteStatement::Storage::kText) return ParseDouble(row.text(column), value);
  if (storage == SqliteStatement::Storage::kBlob) return false;
  *value = row.real(column);
  return true;
}

bool AppendDecimal(const SqliteStatement& row, int column, const Type& type, ColumnBuilder* builder) {
  int128_t unscaled = 0;
  if (row.storage(column) == SqliteStatement::Storage::kReal) {
    if (!DoubleToDecimal(row.real(column), type.precision(), type.scale(), &unscaled)) return false;
  } else if (!ParseDecimal(row.text(column), type.precision(), type.scale(), &unscaled)) {
    return false;
  }
  if (type.physical() == Physical::kInt64) {
    builder->Append(static_cast<int64_t>(unscaled));
  } else {
    builder->Append(unscaled);
  }
  return true;
}

bool AppendTimestamp(std::string_view text, const Type& type, ColumnBuilder* builder) {
  int64_t ticks = 0;
  const bool instant = type.id() == TypeId::kTimestampLtz;
  if (instant && ParseInstantIn(TimestampForm::kSql, text, type.precision(), &ticks)) {
    builder->Append(ticks);
    return true;
  }
  if (!ParseTimestamp(text, type.precision(), &ticks)) return false;
  builder->Append(ticks);
  return true;
}

bool AppendInt32(const SqliteStatement& row, int column, const Type& type, ColumnBuilder* builder) {
  int32_t value = 0;
  int64_t number = 0;
  if (type.id() == TypeId::kDate) {
    if (!ParseDate(row.text(column), &value)) return false;
  } else if (type.id() == TypeId::kTime) {
    if (!ParseTime(row.text(column), type.precision(), &value)) return false;
  } else {
    return ReadInteger(row, column, &number) && AppendInteger<int32_t>(number, builder);
  }
  builder->Append(value);
  return true;
}

bool AppendNumber(const SqliteStatement& row, int column, const Type& type, ColumnBuilder* builder) {
  int64_t number = 0;
  double real = 0;
  switch (type.physical()) {
    case Physical::kBool:
      if (!ReadInteger(row, column, &number) || (number != 0 && number != 1)) return false;
      builder->Append(static_cast<uint8_t>(number));
      return true;
    case Physical::kInt8:
      return ReadInteger(row, column, &number) && AppendInteger<int8_t>(number, builder);
    case Physical::kInt16:
      return ReadInteger(row, column, &number) && AppendInteger<int16_t>(number, builder);
    case Physical::kFloat:
      if (!ReadReal(row, column, &real)) return false;
      builder->Append(static_cast<float>(real));
      return true;
    case Physical::kDouble:
      if (!ReadReal(row, column, &real)) return false;
      builder->Append(real);
      return true;
    default:
      if (!ReadInteger(row, column, &number)) return false;
      builder->Append(number);
      return true;
  }
}

}  // namespace

bool BindCell(std::string_view bytes, size_t* at, int parameter, SqliteStatement* statement) {
  Cell cell;
  if (!ReadCell(bytes, at, &cell)) return false;
  switch (cell.kind) {
    case Cell::Kind::kNull:
      statement->BindNull(parameter);
      return true;
    case Cell::Kind::kInteger:
      statement->BindInteger(parameter, cell.integer);
      return true;
    case Cell::Kind::kReal:
      statement->BindReal(parameter, cell.real);
      return true;
    case Cell::Kind::kText:
      statement->BindText(parameter, cell.bytes);
      return true;
    case Cell::Kind::kBytes:
      statement->BindBlob(parameter, cell.bytes);
      return true;
  }
  return false;
}

bool AppendFromDatabase(const SqliteStatement& row, int column, ColumnBuilder* builder) {
  const Type& type = builder->type();
  if (row.storage(column) == SqliteStatement::Storage::kNull) {
    builder->AppendNull();
    return true;
  }
  if (type.id() == TypeId::kDecimal) return AppendDecimal(row, column, type, builder);
  if (type.is_timestamp()) return AppendTimestamp(row.text(column), type, builder);
  if (type.physical() == Physical::kInt32) return AppendInt32(row, column, type, builder);
  if (type.physical() == Physical::kString) {
    const std::string_view bytes = type.is_binary() ? row.blob(column) : row.text(column);
    // A database keeps whatever bytes a program has called a text.
    if (type.is_string() && !IsUtf8(bytes)) return false;
    builder->AppendString(bytes);
    return true;
  }
  return AppendNumber(row, column, type, builder);
}

}  // namespace caudal
