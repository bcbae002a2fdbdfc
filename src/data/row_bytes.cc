#include "data/row_bytes.h"

#include <cstring>

#include "data/column_view.h"

namespace caudal {
namespace {

constexpr char kNullValue = 0;
constexpr char kPresentValue = 1;

size_t FixedWidth(Physical physical) {
  switch (physical) {
    case Physical::kBool:
    case Physical::kInt8:
      return 1;
    case Physical::kInt16:
      return 2;
    case Physical::kInt32:
    case Physical::kFloat:
      return 4;
    case Physical::kInt64:
    case Physical::kDouble:
      return 8;
    case Physical::kInt128:
      return 16;
    default:
      return 0;
  }
}

void AppendCount(uint64_t count, std::string* out) {
  for (; count >= 0x80; count >>= 7) out->push_back(static_cast<char>(count | 0x80));
  out->push_back(static_cast<char>(count));
}

bool TakeCount(std::string_view* in, uint64_t* count) {
  *count = 0;
  for (int shift = 0; shift < 64 && !in->empty(); shift += 7) {
    const uint8_t byte = static_cast<uint8_t>(in->front());
    in->remove_prefix(1);
    *count |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

template <typename T>
bool TakeFixed(std::string_view* in, ColumnBuilder* builder) {
  if (in->size() < sizeof(T)) return false;
  T value;
  std::memcpy(&value, in->data(), sizeof(T));
  in->remove_prefix(sizeof(T));
  builder->Append(value);
  return true;
}

bool TakeString(std::string_view* in, ColumnBuilder* builder) {
  uint64_t size;
  if (!TakeCount(in, &size) || size > in->size()) return false;
  builder->AppendString(in->substr(0, size));
  in->remove_prefix(size);
  return true;
}

bool TakeNested(std::string_view* in, ColumnBuilder* builder) {
  const int parts = static_cast<int>(builder->type().children().size());
  if (builder->type().physical() == Physical::kRow) {
    for (int i = 0; i < parts; ++i) {
      if (!DecodeValueBytes(in, &builder->child(i))) return false;
    }
    builder->AppendStruct();
    return true;
  }
  uint64_t count;
  if (!TakeCount(in, &count)) return false;
  for (; count > 0; --count) {
    for (int i = 0; i < parts; ++i) {
      if (!DecodeValueBytes(in, &builder->child(i))) return false;
    }
  }
  builder->AppendList();
  return true;
}

}  // namespace

void AppendValueBytes(const Column& column, int32_t row, std::string* out) {
  if (column.IsNull(row) || column.type().physical() == Physical::kNull) return out->push_back(kNullValue);
  out->push_back(kPresentValue);
  const Physical physical = column.type().physical();
  const size_t at = column.encoding() == Encoding::kConstant ? 0 : static_cast<size_t>(row);
  if (physical == Physical::kString) {
    const StringView text = ColumnView<StringView>(column)[row];
    AppendCount(text.size(), out);
    out->append(text.view());
    return;
  }
  if (const size_t width = FixedWidth(physical); width > 0) {
    out->append(column.values_buffer()->data() + at * width, width);
    return;
  }
  if (physical == Physical::kRow) return AppendRowBytes(column.children(), static_cast<int32_t>(at), out);
  const int32_t* offsets = column.values<int32_t>();
  AppendCount(static_cast<uint64_t>(offsets[at + 1] - offsets[at]), out);
  for (int32_t i = offsets[at]; i < offsets[at + 1]; ++i) AppendRowBytes(column.children(), i, out);
}

bool DecodeValueBytes(std::string_view* in, ColumnBuilder* builder) {
  if (in->empty()) return false;
  const char tag = in->front();
  in->remove_prefix(1);
  if (tag == kNullValue) {
    builder->AppendNull();
    return true;
  }
  if (tag != kPresentValue) return false;
  switch (builder->type().physical()) {
    case Physical::kBool:
    case Physical::kInt8:
      return TakeFixed<uint8_t>(in, builder);
    case Physical::kInt16:
      return TakeFixed<uint16_t>(in, builder);
    case Physical::kInt32:
    case Physical::kFloat:
      return TakeFixed<uint32_t>(in, builder);
    case Physical::kInt64:
    case Physical::kDouble:
      return TakeFixed<uint64_t>(in, builder);
    case Physical::kInt128:
      return TakeFixed<uint128_t>(in, builder);
    case Physical::kString:
      return TakeString(in, builder);
    case Physical::kNull:
      return false;
    default:
      return TakeNested(in, builder);
  }
}

}  // namespace caudal
