// ColumnBuilder: fills a flat column value by value; the general way, for decoders of rare types, results of
// operators and tests. Kernels that know their size write into a Buffer directly.
//
// One thread. Strings are copied into arenas of the builder, so appended bytes may go at once.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "data/column.h"
#include "data/int128.h"
#include "data/string_view.h"
#include "data/value.h"

namespace caudal {

class ColumnBuilder {
 public:
  explicit ColumnBuilder(Type type, int32_t capacity = 64);

  const Type& type() const { return type_; }
  int32_t size() const { return size_; }

  // REQUIRES: sizeof(T) is the width of the physical type, for a fixed-width type.
  template <typename T>
  void Append(T value) {
    if (size_ == capacity_) Grow();
    values_->mutable_as<T>()[size_++] = value;
  }
  void AppendString(std::string_view value);
  void AppendNull();
  // Any type, nested too. REQUIRES: the value fits type().
  void AppendValue(const Value& value);
  // Row `row` of a column of the same physical type.
  void AppendFrom(const Column& column, int32_t row);

  // Nested types: fill the children, then close the row.
  ColumnBuilder& child(int i) { return *children_[static_cast<size_t>(i)]; }
  void AppendList();    // ARRAY, MAP: what the children got since the last call is this row
  void AppendStruct();  // ROW: each child got exactly one value

  // The column; the builder is empty again afterwards.
  ColumnPtr Finish();

 private:
  void Grow();
  void Reset(int32_t capacity);

  Type type_;
  size_t width_;
  int32_t size_ = 0;
  int32_t capacity_ = 0;
  bool has_null_ = false;
  MutableBufferPtr values_;
  std::vector<uint64_t> nulls_;  // bit set = NULL; turned over by Finish
  std::vector<MutableBufferPtr> strings_;
  std::vector<std::unique_ptr<ColumnBuilder>> children_;
};

// The column with the rows of `rows` only, in that order, flat, its strings copied: for whoever keeps rows.
ColumnPtr CopyRows(const Column& column, const uint16_t* rows, int32_t count);

}  // namespace caudal
