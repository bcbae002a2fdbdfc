// WindowedTopN: ROW_NUMBER() OVER (PARTITION BY window_start, window_end, … ORDER BY …) <= n, and any TopN of
// a batch: the rows of each partition leave once, as inserts, when its window (in batch, the input) is over.
//
// A row whose clock has passed the end of its window is late; whether a partition is still held here says
// nothing about that. Windows leave oldest first, partitions in the order of their keys' hashes, rows by
// rank; what has left is forgotten. Equal sort keys stand as in TopN.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/operator.h"
#include "api/plan_node.h"
#include "data/row_key.h"
#include "data/schema.h"
#include "op/row/change_builder.h"
#include "op/row/row_layout.h"
#include "op/row/state_charge.h"
#include "op/window_slices.h"
#include "state/keyed_rows.h"
#include "state/row_list.h"

namespace caudal {

class WindowedTopN : public Operator {
 public:
  // REQUIRES: node.emit is kOnWatermark or kOnEnd.
  WindowedTopN(TopNNode node, const Schema& input, const Schema& output);

  Status Open(const OperatorContext& context) override;
  Status OnRestore(const Watermark& watermark) override;
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override;
  Result<Progress> OnWatermark(const Watermark& watermark, Output& out) override;
  Result<Progress> Resume(Output& out) override;
  std::vector<StateTable*> state() override { return {&partitions_}; }
  bool passes_rows() const override { return false; }

 private:
  // Fills in_time_ and ends_; rejects the others.
  void Assign(const Chunk& chunk, Output& out);
  void Change(const Chunk& chunk, int32_t row, RowList& list);
  int64_t ClosedBy(int64_t event);
  // Emits what is left of the list; false if there is more, at list_at_.
  bool EmitList(const RowList& list, Output& out);

  TopNNode node_;
  Schema input_;
  int clock_column_;
  RowLayout layout_;
  RowListCodec codec_;
  KeyedRows partitions_;
  std::unique_ptr<WindowSlices> windows_;  // null in batch, where all is one window
  // Partitions by the ends of their windows.
  std::map<int64_t, std::vector<KeyEntry*>> due_;
  ChangeBuilder changes_;
  StateCharge charge_;
  Env* env_ = nullptr;
  int64_t* absorbed_ = nullptr;
  Watermark watermark_;  // the last one whose work is done
  Watermark target_;
  int64_t fired_end_ = 0;  // every window up to it has left
  int64_t list_at_ = 0;    // of the partition that is leaving

  RowKeys keys_;
  std::vector<KeyEntry*> entries_;
  std::vector<uint16_t> in_time_;
  std::vector<int64_t> ends_;
  std::string order_;
  std::string row_;
};

}  // namespace caudal
