#include "data/column_builder.h"

#include <algorithm>

#include "data/column_view.h"

namespace caudal {
namespace {

constexpr size_t kArenaBytes = 32 * 1024;

size_t Width(Physical physical) {
  switch (physical) {
    case Physical::kNull:
      return 1;
    case Physical::kBool:
    case Physical::kInt8:
      return 1;
    case Physical::kInt16:
      return 2;
    case Physical::kInt32:
    case Physical::kFloat:
    case Physical::kArray:
    case Physical::kMap:
      return 4;
    case Physical::kInt64:
    case Physical::kDouble:
      return 8;
    case Physical::kInt128:
    case Physical::kString:
      return 16;
    case Physical::kRow:
      return 1;
  }
  return 1;
}

bool IsList(Physical physical) { return physical == Physical::kArray || physical == Physical::kMap; }

}  // namespace

ColumnBuilder::ColumnBuilder(Type type, int32_t capacity)
    : type_(std::move(type)), width_(Width(type_.physical())) {
  for (const Field& field : type_.children())
    children_.push_back(std::make_unique<ColumnBuilder>(field.type));
  Reset(std::max(capacity, 1));
}

void ColumnBuilder::Reset(int32_t capacity) {
  size_ = 0;
  capacity_ = capacity;
  has_null_ = false;
  // One slot more than rows: lists need a closing offset.
  values_ = Buffer::Allocate((static_cast<size_t>(capacity) + 1) * width_);
  if (IsList(type_.physical())) values_->mutable_as<int32_t>()[0] = 0;
  nulls_.assign((static_cast<size_t>(capacity) + 63) / 64, 0);
  strings_.clear();
}

void ColumnBuilder::Grow() {
  MutableBufferPtr wider = Buffer::Allocate((static_cast<size_t>(capacity_) * 2 + 1) * width_);
  std::memcpy(wider->mutable_data(), values_->data(), (static_cast<size_t>(capacity_) + 1) * width_);
  values_ = std::move(wider);
  capacity_ *= 2;
  nulls_.resize((static_cast<size_t>(capacity_) + 63) / 64, 0);
}

void ColumnBuilder::AppendString(std::string_view value) {
  if (value.size() <= StringView::kInline) return Append(StringView(value));
  if (strings_.empty() || strings_.back()->size() + value.size() > strings_.back()->capacity()) {
    MutableBufferPtr arena = Buffer::Allocate(std::max(kArenaBytes, value.size()));
    arena->set_size(0);
    strings_.push_back(std::move(arena));
  }
  Buffer& arena = *strings_.back();
  char* bytes = arena.mutable_data() + arena.size();
  std::memcpy(bytes, value.data(), value.size());
  arena.set_size(arena.size() + value.size());
  Append(StringView(std::string_view(bytes, value.size())));
}

void ColumnBuilder::AppendNull() {
  if (size_ == capacity_) Grow();
  has_null_ = true;
  nulls_[static_cast<size_t>(size_) >> 6] |= uint64_t{1} << (size_ & 63);
  if (IsList(type_.physical())) return AppendList();
  std::memset(values_->mutable_data() + static_cast<size_t>(size_) * width_, 0, width_);
  for (auto& child : children_) child->AppendNull();
  ++size_;
}

void ColumnBuilder::AppendList() {
  if (size_ == capacity_) Grow();
  values_->mutable_as<int32_t>()[++size_] = children_[0]->size();
}

void ColumnBuilder::AppendStruct() {
  if (size_ == capacity_) Grow();
  ++size_;
}

void ColumnBuilder::AppendValue(const Value& value) {
  if (value.is_null()) return AppendNull();
  switch (type_.physical()) {
    case Physical::kNull:
      return AppendNull();
    case Physical::kBool:
      return Append<uint8_t>(std::get<bool>(value.data) ? 1 : 0);
    case Physical::kInt8:
      return Append(static_cast<int8_t>(std::get<int64_t>(value.data)));
    case Physical::kInt16:
      return Append(static_cast<int16_t>(std::get<int64_t>(value.data)));
    case Physical::kInt32:
      return Append(static_cast<int32_t>(std::get<int64_t>(value.data)));
    case Physical::kInt64:
      return Append(std::get<int64_t>(value.data));
    case Physical::kInt128:
      return Append(std::get<int128_t>(value.data));
    case Physical::kFloat:
      return Append(static_cast<float>(std::get<double>(value.data)));
    case Physical::kDouble:
      return Append(std::get<double>(value.data));
    case Physical::kString:
      return AppendString(std::get<std::string>(value.data));
    default:
      break;
  }
  const ValueList& list = std::get<ValueList>(value.data);
  for (size_t i = 0; i < list.size(); ++i) {
    const size_t part = type_.physical() == Physical::kArray ? 0
                        : type_.physical() == Physical::kMap ? i % 2
                                                             : i;
    children_[part]->AppendValue(list[i]);
  }
  return type_.physical() == Physical::kRow ? AppendStruct() : AppendList();
}

void ColumnBuilder::AppendFrom(const Column& column, int32_t row) {
  if (column.IsNull(row)) return AppendNull();
  const size_t at = column.encoding() == Encoding::kConstant ? 0 : static_cast<size_t>(row);
  switch (type_.physical()) {
    case Physical::kString:
      return AppendString(ColumnView<StringView>(column)[row].view());
    case Physical::kArray:
    case Physical::kMap: {
      const int32_t* offsets = column.values<int32_t>();
      for (int32_t i = offsets[at]; i < offsets[at + 1]; ++i) {
        for (size_t c = 0; c < children_.size(); ++c) children_[c]->AppendFrom(*column.children()[c], i);
      }
      return AppendList();
    }
    case Physical::kRow:
      for (size_t c = 0; c < children_.size(); ++c) {
        children_[c]->AppendFrom(*column.children()[c], static_cast<int32_t>(at));
      }
      return AppendStruct();
    default:
      break;
  }
  if (size_ == capacity_) Grow();
  std::memcpy(values_->mutable_data() + static_cast<size_t>(size_++) * width_,
              column.values_buffer()->data() + at * width_, width_);
}

ColumnPtr ColumnBuilder::Finish() {
  BufferPtr validity;
  if (has_null_) {
    MutableBufferPtr bits = Buffer::Allocate(nulls_.size() * sizeof(uint64_t));
    for (size_t i = 0; i < nulls_.size(); ++i) bits->mutable_as<uint64_t>()[i] = ~nulls_[i];
    validity = std::move(bits);
  }
  values_->set_size((static_cast<size_t>(size_) + 1) * width_);
  std::vector<ColumnPtr> children;
  for (auto& child : children_) children.push_back(child->Finish());
  ColumnPtr column =
      Column::Flat(type_, size_, std::move(values_), std::move(validity),
                   std::vector<BufferPtr>(strings_.begin(), strings_.end()), std::move(children));
  Reset(std::min(capacity_, 4096));
  return column;
}

ColumnPtr CopyRows(const Column& column, const uint16_t* rows, int32_t count) {
  ColumnBuilder builder(column.type(), count);
  for (int32_t i = 0; i < count; ++i) builder.AppendFrom(column, rows[i]);
  return builder.Finish();
}

Value ValueAt(const Column& column, int32_t row) {
  if (column.IsNull(row)) return Value();
  const size_t at = column.encoding() == Encoding::kConstant ? 0 : static_cast<size_t>(row);
  switch (column.type().physical()) {
    case Physical::kNull:
      return Value();
    case Physical::kBool:
      return Value(column.values<uint8_t>()[at] != 0);
    case Physical::kInt8:
      return Value(static_cast<int64_t>(column.values<int8_t>()[at]));
    case Physical::kInt16:
      return Value(static_cast<int64_t>(column.values<int16_t>()[at]));
    case Physical::kInt32:
      return Value(static_cast<int64_t>(column.values<int32_t>()[at]));
    case Physical::kInt64:
      return Value(column.values<int64_t>()[at]);
    case Physical::kInt128:
      return Value(column.values<int128_t>()[at]);
    case Physical::kFloat:
      return Value(static_cast<double>(column.values<float>()[at]));
    case Physical::kDouble:
      return Value(column.values<double>()[at]);
    case Physical::kString:
      return Value(ColumnView<StringView>(column)[row].ToString());
    default:
      break;
  }
  ValueList list;
  if (column.type().physical() == Physical::kRow) {
    for (const ColumnPtr& child : column.children())
      list.push_back(ValueAt(*child, static_cast<int32_t>(at)));
    return Value(std::move(list));
  }
  const int32_t* offsets = column.values<int32_t>();
  for (int32_t i = offsets[at]; i < offsets[at + 1]; ++i) {
    for (const ColumnPtr& child : column.children()) list.push_back(ValueAt(*child, i));
  }
  return Value(std::move(list));
}

ColumnPtr ConstantColumn(const Type& type, const Value& value, int32_t size) {
  ColumnBuilder builder(type, 1);
  builder.AppendValue(value);
  return Column::Constant(builder.Finish(), size);
}

}  // namespace caudal
