#include "api/segment/cell.h"

#include <cmath>
#include <cstring>

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

bool ReadCell(std::string_view bytes, size_t* at, Cell* cell) {
  if (*at >= bytes.size()) return false;
  const char tag = bytes[(*at)++];
  if (tag < kNullTag || tag > kBlobTag) return false;
  cell->kind = static_cast<Cell::Kind>(tag);
  if (tag == kNullTag) return true;
  const size_t head = tag == kIntegerTag || tag == kRealTag ? 8 : 4;
  if (bytes.size() - *at < head) return false;
  int64_t integer = 0;
  std::memcpy(&integer, bytes.data() + *at, head);
  *at += head;
  cell->integer = integer;
  if (tag == kIntegerTag) return true;
  if (tag == kRealTag) {
    std::memcpy(&cell->real, &integer, 8);
    return true;
  }
  const auto size = static_cast<size_t>(integer);
  if (bytes.size() - *at < size) return false;
  cell->bytes = bytes.substr(*at, size);
  *at += size;
  return true;
}

}  // namespace caudal
