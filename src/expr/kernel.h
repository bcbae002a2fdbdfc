// What kernels of fixed-width values are written with: an output column and loops over the rows of a call.
//
// For files of functions/ only. An Output<T> is filled by one thread and turned into a Column once; rows that
// are never set hold readable garbage, as Column allows. The loops see flat and constant arguments; the
// Evaluator hands over none whose arguments are all constant, and skips rows with NULLs for strict functions.
#pragma once

#include <cstring>

#include "data/column_view.h"
#include "expr/evaluator.h"
#include "expr/scalar_function.h"

namespace caudal {

// A validity bitmap that exists only once a row is NULL.
class ValidityOutput {
 public:
  explicit ValidityOutput(int32_t rows) : rows_(rows) {}

  void SetNull(int32_t row) {
    if (!bits_) AllocateAllValid();
    words_[row >> 6] &= ~(uint64_t{1} << (row & 63));
  }
  BufferPtr Finish() { return std::move(bits_); }

 private:
  void AllocateAllValid() {
    const size_t bytes = (static_cast<size_t>(rows_) + 63) / 64 * 8;
    bits_ = Buffer::Allocate(bytes);
    words_ = bits_->mutable_as<uint64_t>();
    std::memset(words_, 0xff, bytes);
  }

  int32_t rows_;
  MutableBufferPtr bits_;
  uint64_t* words_ = nullptr;
};

template <typename T>
class Output {
 public:
  explicit Output(int32_t rows)
      : rows_(rows),
        buffer_(Buffer::Allocate(static_cast<size_t>(rows) * sizeof(T))),
        values_(buffer_->mutable_as<T>()),
        validity_(rows) {}

  void Set(int32_t row, T value) { values_[row] = value; }
  void SetNull(int32_t row) {
    values_[row] = T();
    validity_.SetNull(row);
  }
  T* values() { return values_; }
  ColumnPtr Finish(const Type& type) {
    return Column::Flat(type, rows_, std::move(buffer_), validity_.Finish());
  }

 private:
  int32_t rows_;
  MutableBufferPtr buffer_;
  T* values_;
  ValidityOutput validity_;
};

template <typename F>
void ForEachRow(const RowSet& rows, F f) {
  if (rows.rows == nullptr) {
    for (int32_t row = 0; row < rows.count; ++row) f(row);
  } else {
    for (int32_t i = 0; i < rows.count; ++i) f(static_cast<int32_t>(rows.rows[i]));
  }
}

// `f(A) -> R`, over every row.
template <typename A, typename R, typename F>
ColumnPtr MapUnary(KernelCall& call, F f) {
  Output<R> out(call.physical_rows);
  R* to = out.values();
  const ColumnView<A> a(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) { to[row] = f(a[row]); });
  return out.Finish(call.expr.type);
}

namespace kernel {
// Both sides flat, or one of them constant: three tight loops.
template <typename A, typename B, typename G>
void LoopBinary(const Column& left, const Column& right, const RowSet& rows, G g) {
  const A* a = left.values<A>();
  const B* b = right.values<B>();
  if (left.encoding() == Encoding::kConstant) {
    const A constant = *a;
    ForEachRow(rows, [&](int32_t row) { g(row, constant, b[row]); });
  } else if (right.encoding() == Encoding::kConstant) {
    const B constant = *b;
    ForEachRow(rows, [&](int32_t row) { g(row, a[row], constant); });
  } else {
    ForEachRow(rows, [&](int32_t row) { g(row, a[row], b[row]); });
  }
}
}  // namespace kernel

// `f(A, B) -> R`, over every row; fixed-width arguments.
template <typename A, typename B, typename R, typename F>
ColumnPtr MapBinary(KernelCall& call, F f) {
  Output<R> out(call.physical_rows);
  R* to = out.values();
  kernel::LoopBinary<A, B>(*call.args[0], *call.args[1], call.rows,
                           [&](int32_t row, A a, B b) { to[row] = f(a, b); });
  return out.Finish(call.expr.type);
}

}  // namespace caudal
