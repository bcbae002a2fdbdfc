// ColumnView<T>: reads the values of a column of physical type T row by row, whatever its encoding.
//
// A borrowed view: valid while the Column lives. Cheap to make (once a chunk), no virtual call a row. For the
// tightest loops a kernel may branch on encoding() once and use values() directly.
#pragma once

#include "data/column.h"
#include "data/string_view.h"

namespace caudal {

template <typename T>
class ColumnView {
 public:
  explicit ColumnView(const Column& column)
      : validity_(column.validity()), constant_(column.encoding() == Encoding::kConstant) {
    if constexpr (std::is_same_v<T, StringView>) {
      if (column.encoding() == Encoding::kDictionary) {
        codes_ = column.codes();
        values_ = column.dictionary()->values();
        return;
      }
    }
    values_ = column.values<T>();
  }

  const T& operator[](int32_t row) const {
    if constexpr (std::is_same_v<T, StringView>) {
      // A code under a NULL is unspecified, hence read as the first value.
      if (codes_ != nullptr) return values_[IsNull(row) ? 0 : codes_[row]];
    }
    return values_[constant_ ? 0 : row];
  }
  bool IsNull(int32_t row) const {
    if (validity_ == nullptr) return false;
    const int32_t i = constant_ ? 0 : row;
    return (validity_[i >> 6] >> (i & 63) & 1) == 0;
  }
  bool may_have_nulls() const { return validity_ != nullptr; }

 private:
  const T* values_ = nullptr;
  const int32_t* codes_ = nullptr;
  const uint64_t* validity_;
  bool constant_;
};

}  // namespace caudal
