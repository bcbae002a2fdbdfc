#include "data/column.h"

#include <cstring>

namespace caudal {

ColumnPtr Column::Flat(Type type, int32_t size, BufferPtr values, BufferPtr validity,
                       std::vector<BufferPtr> strings, std::vector<ColumnPtr> children) {
  std::shared_ptr<Column> column(new Column());
  column->type_ = std::move(type);
  column->size_ = size;
  column->values_ = std::move(values);
  column->validity_ = std::move(validity);
  column->strings_ = std::move(strings);
  column->children_ = std::move(children);
  return column;
}

ColumnPtr Column::Constant(const ColumnPtr& value, int32_t size) {
  CHECK(value->size_ >= 1 && value->encoding_ != Encoding::kDictionary);
  std::shared_ptr<Column> column(new Column(*value));
  column->encoding_ = Encoding::kConstant;
  column->size_ = size;
  return column;
}

ColumnPtr Column::Dictionary(Type type, int32_t size, BufferPtr codes, BufferPtr validity,
                             StringDictionaryPtr dictionary, int32_t visible) {
  std::shared_ptr<Column> column(new Column());
  column->type_ = std::move(type);
  column->size_ = size;
  column->encoding_ = Encoding::kDictionary;
  column->visible_ = visible;
  column->values_ = std::move(codes);
  column->validity_ = std::move(validity);
  column->dictionary_ = std::move(dictionary);
  return column;
}

ColumnPtr Column::Null(Type type, int32_t size) {
  MutableBufferPtr validity = Buffer::Allocate(sizeof(uint64_t));
  MutableBufferPtr values = Buffer::Allocate(2 * sizeof(StringView));
  std::memset(validity->mutable_data(), 0, validity->size());
  std::memset(values->mutable_data(), 0, values->size());
  std::vector<ColumnPtr> children;
  for (const Field& field : type.children()) children.push_back(Null(field.type, 1));
  return Constant(Flat(std::move(type), 1, std::move(values), std::move(validity), {}, std::move(children)),
                  size);
}

ColumnPtr Column::WithType(Type type) const {
  CHECK(type.physical() == type_.physical());
  std::shared_ptr<Column> column(new Column(*this));
  column->type_ = std::move(type);
  return column;
}

}  // namespace caudal
