// Window: a window table function on its own: each row once for every window it lies in, newest first as in
// Flink, with window_start, window_end and window_time behind its visible columns. Holds nothing; what is
// late is decided by whoever aggregates.
//
// A tumbling window passes rows one to one and shares their columns; others copy them.
#pragma once

#include <memory>
#include <vector>

#include "api/operator.h"
#include "api/plan_node.h"
#include "data/schema.h"
#include "op/window_slices.h"

namespace caudal {

class Window : public Operator {
 public:
  Window(WindowNode node, const Schema& input, const Schema& output);

  Status Open(const OperatorContext& context) override;
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override;
  Result<Progress> Resume(Output& out) override;
  bool passes_rows() const override { return one_to_one_; }

 private:
  // Puts the labels of window_of_ between the visible and the hidden columns.
  Chunk WithLabels(std::vector<ColumnPtr> columns, int32_t rows, SelectionPtr selection, RowKindsPtr kinds);

  WindowNode node_;
  Schema output_;
  size_t visible_ = 0;  // columns of the input that stand before the labels
  bool one_to_one_;
  std::unique_ptr<WindowSlices> windows_;
  int64_t* absorbed_ = nullptr;

  // The chunk being worked through: the next row, and the windows it has still to go to, up to next_end_.
  Chunk chunk_;
  std::vector<uint16_t> pending_;
  size_t at_ = 0;
  int64_t next_end_ = 0;
  bool row_begun_ = false;
  std::vector<int64_t> window_of_;  // a row made, or a physical row: the window, as its end
};

}  // namespace caudal
