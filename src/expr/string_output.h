// StringOutput: the result column of a kernel that gives strings or bytes.
//
// One thread, one use. A result is either copied into arenas of the output (Set), written in place (Reserve),
// or a view of bytes that another column pins (Share, after KeepAlive of that column).
#pragma once

#include <string_view>
#include <vector>

#include "data/column.h"
#include "data/string_view.h"
#include "expr/kernel.h"

namespace caudal {

class StringOutput {
 public:
  // `rows`: of the column; those that are never set are empty strings.
  explicit StringOutput(int32_t rows);

  void Set(int32_t row, std::string_view value) {
    if (value.size() <= StringView::kInline) {
      views_[row] = StringView(value);
    } else {
      std::memcpy(Reserve(value.size()), value.data(), value.size());
      Commit(row, value.size());
    }
  }
  // Room for up to `size` bytes; the next Commit says how many there are.
  char* Reserve(size_t size);
  void Commit(int32_t row, size_t size);
  // REQUIRES: the bytes are static or pinned by a column given to KeepAlive.
  void Share(int32_t row, std::string_view value) { views_[row] = StringView(value); }
  void Share(int32_t row, StringView value) { views_[row] = value; }
  void KeepAlive(const ColumnPtr& column);
  void SetNull(int32_t row) { validity_.SetNull(row); }

  ColumnPtr Finish(const Type& type);

 private:
  int32_t rows_;
  MutableBufferPtr buffer_;
  StringView* views_;
  ValidityOutput validity_;
  MutableBufferPtr arena_;
  size_t used_ = 0;
  std::vector<BufferPtr> kept_;
};

// Buffers that a column of views copied from `column` has to hold.
void AppendPinnedBuffers(const ColumnPtr& column, std::vector<BufferPtr>* buffers);

}  // namespace caudal
