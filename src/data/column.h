// Column: an immutable array of values of one type, in one of three encodings.
//
//   kFlat        values()[row]
//   kConstant    values()[0] for every row
//   kDictionary  strings only: dictionary values()[codes()[row]]; a dictionary never wraps a dictionary
//
// Validity is Arrow's: bit `row` of validity() is 1 for a value, 0 for NULL; no bitmap means no NULL. Under a
// constant, bit 0 counts. Where a row is NULL or not selected its value is unspecified but readable.
// A Column is shared by ColumnPtr and may be read from any thread. What it returns lives as long as it does.
// ColumnView<T> (column_view.h) reads all three encodings alike.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.h"
#include "data/buffer.h"
#include "data/fwd.h"
#include "data/string_dictionary.h"
#include "data/type.h"

namespace caudal {

enum class Encoding : uint8_t { kFlat, kConstant, kDictionary };

class Column {
 public:
  // `values`: rows (or 1 if constant) of the physical type; for ARRAY and MAP int32 offsets (rows + 1); none
  // for ROW and NULL. `validity`: none = all valid. `strings`: what string views point into.
  static ColumnPtr Flat(Type type, int32_t size, BufferPtr values, BufferPtr validity,
                        std::vector<BufferPtr> strings = {}, std::vector<ColumnPtr> children = {});
  // `value`: a column of one row, flat; every row has its value.
  static ColumnPtr Constant(const ColumnPtr& value, int32_t size);
  // `codes`: int32 a row, each < visible; `visible`: values published so far.
  static ColumnPtr Dictionary(Type type, int32_t size, BufferPtr codes, BufferPtr validity,
                              StringDictionaryPtr dictionary, int32_t visible);
  // All NULL.
  static ColumnPtr Null(Type type, int32_t size);

  const Type& type() const { return type_; }
  int32_t size() const { return size_; }
  Encoding encoding() const { return encoding_; }

  // REQUIRES: not kDictionary; T is the physical type.
  template <typename T>
  const T* values() const {
    return values_ ? values_->as<T>() : nullptr;
  }
  const int32_t* codes() const { return values_->as<int32_t>(); }  // REQUIRES: kDictionary
  const StringDictionaryPtr& dictionary() const { return dictionary_; }
  int32_t visible() const { return visible_; }  // dictionary values that codes may name

  // Null when every row is valid.
  const uint64_t* validity() const { return validity_ ? validity_->as<uint64_t>() : nullptr; }
  bool may_have_nulls() const { return validity_ != nullptr; }
  bool IsNull(int32_t row) const {
    if (validity_ == nullptr) return false;
    const int32_t i = encoding_ == Encoding::kConstant ? 0 : row;
    return (validity()[i >> 6] >> (i & 63) & 1) == 0;
  }

  const std::vector<ColumnPtr>& children() const { return children_; }
  // The buffers themselves: for accounting, export and columns that share them.
  const BufferPtr& values_buffer() const { return values_; }
  const BufferPtr& validity_buffer() const { return validity_; }
  const std::vector<BufferPtr>& strings() const { return strings_; }

  // The same values with another type of equal physical layout (a nullability or length change).
  ColumnPtr WithType(Type type) const;

 private:
  Column() = default;

  Type type_;
  int32_t size_ = 0;
  Encoding encoding_ = Encoding::kFlat;
  int32_t visible_ = 0;
  BufferPtr values_;  // codes under kDictionary
  BufferPtr validity_;
  StringDictionaryPtr dictionary_;
  std::vector<BufferPtr> strings_;
  std::vector<ColumnPtr> children_;
};

}  // namespace caudal
