// SpareRows: accumulator rows that panes are merged into, handed round instead of made anew, so that a
// sketch keeps its memory.
//
// Owned by one operator and outliving whoever takes rows from it. One thread.
#pragma once

#include <memory>
#include <vector>

#include "op/row/accumulator_row.h"

namespace caudal {

class SpareRows {
 public:
  using Row = std::unique_ptr<char[]>;

  // `rows` outlives it.
  explicit SpareRows(const AccumulatorRow* rows) : rows_(rows) {}
  ~SpareRows() {
    for (Row& row : spare_) rows_->Destroy(row.get());
    if (scratch_ != nullptr) rows_->Destroy(scratch_.get());
  }
  SpareRows(const SpareRows&) = delete;
  SpareRows& operator=(const SpareRows&) = delete;

  // What is in the row is unknown: AccumulatorRow::Assign comes first.
  Row Take() {
    if (spare_.empty()) {
      Row row = std::make_unique<char[]>(rows_->width());
      rows_->Init(row.get());
      return row;
    }
    Row row = std::move(spare_.back());
    spare_.pop_back();
    return row;
  }
  // One row for all, of unknown contents, for what is read at once: it stays in the nearest cache.
  char* scratch() {
    if (scratch_ == nullptr) scratch_ = Take();
    return scratch_.get();
  }
  // Null is fine.
  void Give(Row* row) {
    if (*row == nullptr) return;
    if (spare_.size() < kMost) return spare_.push_back(std::move(*row));
    rows_->Destroy(row->get());
    row->reset();
  }

 private:
  static constexpr size_t kMost = 64;

  const AccumulatorRow* rows_;
  std::vector<Row> spare_;
  Row scratch_;
};

}  // namespace caudal
