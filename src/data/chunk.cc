#include "data/chunk.h"

#include <algorithm>

#include "data/column_builder.h"

namespace caudal {
namespace {

void CollectBuffers(const Column& column, std::vector<const Buffer*>* buffers) {
  for (const BufferPtr& buffer : {column.values_buffer(), column.validity_buffer()}) {
    if (buffer) buffers->push_back(buffer.get());
  }
  for (const BufferPtr& buffer : column.strings()) buffers->push_back(buffer.get());
  for (const ColumnPtr& child : column.children()) CollectBuffers(*child, buffers);
}

}  // namespace

Chunk Chunk::Compact() const {
  std::vector<uint16_t> all;
  const RowSet set = rows();
  const uint16_t* numbers = set.rows;
  if (numbers == nullptr) {
    all.resize(static_cast<size_t>(row_count_));
    std::iota(all.begin(), all.end(), uint16_t{0});
    numbers = all.data();
  }
  std::vector<ColumnPtr> columns;
  columns.reserve(columns_.size());
  for (const ColumnPtr& column : columns_) columns.push_back(CopyRows(*column, numbers, set.count));
  RowKindsPtr kinds;
  if (kinds_) {
    auto picked = std::make_shared<std::vector<RowKind>>();
    for (int32_t i = 0; i < set.count; ++i) picked->push_back(kind(numbers[i]));
    kinds = std::move(picked);
  }
  return Chunk(std::move(columns), set.count, nullptr, std::move(kinds));
}

size_t Chunk::RetainedBytes() const {
  std::vector<const Buffer*> buffers;
  for (const ColumnPtr& column : columns_) CollectBuffers(*column, &buffers);
  std::sort(buffers.begin(), buffers.end());
  buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
  size_t bytes = 0;
  for (const Buffer* buffer : buffers) bytes += buffer->capacity();
  return bytes;
}

}  // namespace caudal
