#include "expr/string_output.h"

#include <algorithm>

namespace caudal {

StringOutput::StringOutput(int32_t rows)
    : rows_(rows),
      buffer_(Buffer::Allocate(static_cast<size_t>(rows) * sizeof(StringView))),
      views_(buffer_->mutable_as<StringView>()),
      validity_(rows) {
  std::memset(buffer_->mutable_data(), 0, buffer_->size());
}

char* StringOutput::Reserve(size_t size) {
  constexpr size_t kArenaBytes = 32 * 1024;
  if (!arena_ || used_ + size > arena_->capacity()) {
    arena_ = Buffer::Allocate(std::max(kArenaBytes, size));
    used_ = 0;
    kept_.push_back(arena_);
  }
  return arena_->mutable_data() + used_;
}

void StringOutput::Commit(int32_t row, size_t size) {
  views_[row] = StringView(std::string_view(arena_->data() + used_, size));
  if (size > StringView::kInline) used_ += size;
}

void StringOutput::KeepAlive(const ColumnPtr& column) { AppendPinnedBuffers(column, &kept_); }

ColumnPtr StringOutput::Finish(const Type& type) {
  return Column::Flat(type, rows_, std::move(buffer_), validity_.Finish(), std::move(kept_));
}

void AppendPinnedBuffers(const ColumnPtr& column, std::vector<BufferPtr>* buffers) {
  if (column->encoding() == Encoding::kDictionary) {
    // A handle on a buffer that holds the whole column, hence its dictionary's arenas.
    buffers->push_back(BufferPtr(column, column->values_buffer().get()));
    return;
  }
  buffers->insert(buffers->end(), column->strings().begin(), column->strings().end());
}

}  // namespace caudal
