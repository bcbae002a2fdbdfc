#include "connect/jdbc/cell.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "data/column_view.h"
#include "data/text/number_text.h"
#include "data/text/time_text.h"

namespace caudal {
namespace {

enum Tag : char { kNullTag, kIntegerTag, kRealTag, kTextTag, kBlobTag };

template <typename T>
void PutFixed(Tag tag, T value, std::string* out) {
  static_assert(sizeof(T) == 8);
  char bytes[9] = {tag};
  std::memcpy(bytes + 1, &value, 8);
  out->append(bytes, 9);
}

void PutBytes(Tag tag, std::string_view value, std::string* out) {
  char head[5] = {tag};
  const auto size = static_cast<uint32_t>(value.size());
  std::memcpy(head + 1, &size, 4);
  out->append(head, 5);
  out->append(value);
}

// NaN would become NULL in SQLite.
void PutReal(double value, std::string* out) {
  if (std::isnan(value)) return PutBytes(kTextTag, "NaN", out);
  PutFixed(kRealTag, value, out);
}

void PutDecimal(int128_t unscaled, int scale, std::string* out) {
  char text[kDecimalTextSize];
  PutBytes(kTextTag, {text, FormatDecimal(unscaled, scale, text)}, out);
}

template <typename T>
T At(const Column& column, int32_t row) {
  return ColumnView<T>(column)[row];
}

void PutInt32(const Column& column, int32_t row, std::string* out) {
  const auto value = At<int32_t>(column, row);
  char text[kTimeTextSize];
  if (column.type().id() == TypeId::kDate) return PutBytes(kTextTag, {text, FormatDate(value, text)}, out);
  if (column.type().id() == TypeId::kTime) {
    return PutBytes(kTextTag, {text, FormatTime(value, column.type().precision(), text)}, out);
  }
  PutFixed(kIntegerTag, int64_t{value}, out);
}

void PutInt64(const Column& column, int32_t row, std::string* out) {
  const Type& type = column.type();
  const auto value = At<int64_t>(column, row);
  if (type.id() == TypeId::kDecimal) return PutDecimal(value, type.scale(), out);
  if (!type.is_timestamp()) return PutFixed(kIntegerTag, value, out);
  char text[kTimestampTextSize];
  size_t size = FormatTimestamp(value, type.precision(), text);
  if (type.id() == TypeId::kTimestampLtz) text[size++] = 'Z';  // an instant, in UTC
  PutBytes(kTextTag, {text, size}, out);
}

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

void CellEncoder::Append(int32_t row, std::string* out) const {
  const Column& column = *column_;
  if (column.IsNull(row)) return out->push_back(kNullTag);
  switch (column.type().physical()) {
    case Physical::kBool:
      return PutFixed(kIntegerTag, int64_t{At<uint8_t>(column, row)}, out);
    case Physical::kInt8:
      return PutFixed(kIntegerTag, int64_t{At<int8_t>(column, row)}, out);
    case Physical::kInt16:
      return PutFixed(kIntegerTag, int64_t{At<int16_t>(column, row)}, out);
    case Physical::kInt32:
      return PutInt32(column, row, out);
    case Physical::kInt64:
      return PutInt64(column, row, out);
    case Physical::kInt128:
      return PutDecimal(At<int128_t>(column, row), column.type().scale(), out);
    case Physical::kFloat:
      return PutReal(At<float>(column, row), out);
    case Physical::kDouble:
      return PutReal(At<double>(column, row), out);
    case Physical::kString:
      return PutBytes(column.type().is_binary() ? kBlobTag : kTextTag,
                      ColumnView<StringView>(column)[row].view(), out);
    default:
      return out->push_back(kNullTag);  // refused when the sink was made
  }
}

bool BindCell(std::string_view bytes, size_t* at, int parameter, SqliteStatement* statement) {
  if (*at >= bytes.size()) return false;
  const char tag = bytes[(*at)++];
  if (tag == kNullTag) {
    statement->BindNull(parameter);
    return true;
  }
  const size_t head = tag == kIntegerTag || tag == kRealTag ? 8 : 4;
  if (bytes.size() - *at < head) return false;
  int64_t integer = 0;
  std::memcpy(&integer, bytes.data() + *at, head);
  *at += head;
  if (tag == kIntegerTag) {
    statement->BindInteger(parameter, integer);
    return true;
  }
  if (tag == kRealTag) {
    double real = 0;
    std::memcpy(&real, &integer, 8);
    statement->BindReal(parameter, real);
    return true;
  }
  const auto size = static_cast<size_t>(integer);
  if ((tag != kTextTag && tag != kBlobTag) || bytes.size() - *at < size) return false;
  const std::string_view value = bytes.substr(*at, size);
  *at += size;
  if (tag == kTextTag) {
    statement->BindText(parameter, value);
  } else {
    statement->BindBlob(parameter, value);
  }
  return true;
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
    builder->AppendString(type.is_binary() ? row.blob(column) : row.text(column));
    return true;
  }
  return AppendNumber(row, column, type, builder);
}

}  // namespace caudal
