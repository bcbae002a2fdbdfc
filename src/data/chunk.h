// Chunk: up to kMaxRows rows on their way through the plan; and what it is made of.
//
// Columns are shared and immutable; a selection picks and orders rows without touching them, so a filter
// costs one list of row numbers. Immutable once emitted, cheap to move. The bytes that string columns point
// into stay pinned while a chunk lives: whoever keeps rows after the call copies them (Compact).
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "data/column.h"
#include "data/fwd.h"

namespace caudal {

// What a row does to the result. Its meaning is its sign: +I and +U add, -U and -D take away; a -U/+U pair
// standing together is a courtesy that no consumer may rely on.
enum class RowKind : unsigned char { kInsert, kUpdateBefore, kUpdateAfter, kDelete };

inline bool IsAdd(RowKind kind) { return kind == RowKind::kInsert || kind == RowKind::kUpdateAfter; }
inline const char* RowKindName(RowKind kind) {
  static constexpr const char* kNames[] = {"+I", "-U", "+U", "-D"};
  return kNames[static_cast<int>(kind)];
}

// Physical row numbers, in the order in which rows stand.
struct Selection {
  std::vector<uint16_t> rows;
};

// Where the rows of a chunk were read, for errors; lost where an operator makes rows of its own.
struct ChunkOrigin {
  std::string split;             // "filesystem events[0]"
  std::string file;              // that offsets count in; empty: no source of files
  std::vector<int64_t> offsets;  // one a physical row; empty: unknown

  // "filesystem events[0]@10442, file 'in/a.json'"
  std::string Place(int32_t physical_row) const;
};

// A borrowed list of physical rows: what kernels and state calls loop over.
struct RowSet {
  const uint16_t* rows = nullptr;  // null: 0 … count - 1
  int32_t count = 0;
  int32_t operator[](int32_t i) const { return rows == nullptr ? i : rows[i]; }
};

class Chunk {
 public:
  static constexpr int32_t kMaxRows = 4096;

  Chunk() = default;
  // `row_count`: physical rows; every column has that size.
  Chunk(std::vector<ColumnPtr> columns, int32_t row_count, SelectionPtr selection = nullptr,
        RowKindsPtr kinds = nullptr)
      : columns_(std::move(columns)),
        selection_(std::move(selection)),
        kinds_(std::move(kinds)),
        row_count_(row_count) {}

  int32_t physical_rows() const { return row_count_; }
  // Rows that count: those selected.
  int32_t size() const { return selection_ ? static_cast<int32_t>(selection_->rows.size()) : row_count_; }
  bool empty() const { return size() == 0; }

  int column_count() const { return static_cast<int>(columns_.size()); }
  const ColumnPtr& column(int i) const { return columns_[static_cast<size_t>(i)]; }
  const std::vector<ColumnPtr>& columns() const { return columns_; }
  const SelectionPtr& selection() const { return selection_; }
  const RowKindsPtr& kinds() const { return kinds_; }       // null: all +I
  const ChunkOriginPtr& origin() const { return origin_; }  // null: unknown
  bool insert_only() const { return kinds_ == nullptr; }

  // Valid while the chunk lives.
  RowSet rows() const { return {selection_ ? selection_->rows.data() : nullptr, size()}; }
  RowKind kind(int32_t physical_row) const {
    return kinds_ ? (*kinds_)[static_cast<size_t>(physical_row)] : RowKind::kInsert;
  }

  // The same rows with other columns, or another selection over the same columns.
  Chunk WithColumns(std::vector<ColumnPtr> columns) const {
    return Chunk(std::move(columns), row_count_, selection_, kinds_).WithOrigin(origin_);
  }
  Chunk WithSelection(SelectionPtr selection) const {
    return Chunk(columns_, row_count_, std::move(selection), kinds_).WithOrigin(origin_);
  }
  Chunk WithOrigin(ChunkOriginPtr origin) && {
    origin_ = std::move(origin);
    return std::move(*this);
  }

  // The selected rows alone, flat, in own memory.
  Chunk Compact() const;
  // Bytes that the chunk keeps alive, each buffer once: what a lane is charged for.
  size_t RetainedBytes() const;

 private:
  std::vector<ColumnPtr> columns_;
  SelectionPtr selection_;
  RowKindsPtr kinds_;
  ChunkOriginPtr origin_;
  int32_t row_count_ = 0;
};

}  // namespace caudal
