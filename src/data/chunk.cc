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
  Chunk compact(std::move(columns), set.count, nullptr, std::move(kinds));
  if (!origin_) return compact;
  auto origin = std::make_shared<ChunkOrigin>(origin_->split, origin_->file, std::vector<int64_t>());
  if (!origin_->offsets.empty()) {
    origin->offsets.reserve(static_cast<size_t>(set.count));
    for (int32_t i = 0; i < set.count; ++i) origin->offsets.push_back(origin_->offsets[numbers[i]]);
  }
  return std::move(compact).WithOrigin(std::move(origin));
}

std::string ChunkOrigin::Place(int32_t physical_row) const {
  std::string place = split;
  if (!offsets.empty()) place += "@" + std::to_string(offsets[static_cast<size_t>(physical_row)]);
  return file.empty() ? place : place + ", file '" + file + "'";
}

size_t Chunk::RetainedBytes() const {
  std::vector<const Buffer*> buffers;
  for (const ColumnPtr& column : columns_) CollectBuffers(*column, &buffers);
  std::sort(buffers.begin(), buffers.end());
  buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
  size_t bytes = 0;
  for (const Buffer* buffer : buffers) bytes += buffer->capacity();
  if (origin_) bytes += origin_->offsets.size() * sizeof(int64_t);
  return bytes;
}

}  // namespace caudal
