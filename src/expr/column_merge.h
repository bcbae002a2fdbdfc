// ColumnMerge: one column out of rows of several, for functions whose branches each serve some rows.
//
// One thread, one use. Rows that no Take named are NULL. The branches' columns have the result's physical
// type; the bytes of their strings are shared, not copied.
#pragma once

#include <vector>

#include "data/chunk.h"

namespace caudal {

class ColumnMerge {
 public:
  // `rows`: how many the result will have.
  ColumnMerge(Type type, int32_t rows);

  // The rows of `rows` come from `column`. REQUIRES: no row is named twice.
  void Take(const ColumnPtr& column, RowSet rows);
  ColumnPtr Finish();

 private:
  ColumnPtr FinishNested();

  Type type_;
  int32_t rows_;
  std::vector<ColumnPtr> sources_;
  std::vector<int16_t> source_of_;  // by row; -1: NULL
  int32_t taken_ = 0;
};

}  // namespace caudal
