// TopN: ROW_NUMBER() OVER (PARTITION BY … ORDER BY …) <= n: the rows of each partition that stand between
// `first` and `last`, as they change.
//
// What leaves is what Flink's ranks emit. With a rank column, or an offset, each place is updated in turn;
// without, a row that falls out is deleted and one that comes in is inserted, but n = 1 over an insert-only
// input updates. Equal sort keys: the first to arrive stands first; by descending row time (`rowtime_last`)
// the last one does. An insert-only input needs `last` rows a partition, a retracting one all of them.
// Where updates only raise a row (`rising`), the pair -U, +U is one step, as in Flink's update-fast rank.
// By processing time (`by_arrival`) nothing is compared. ROW_NUMBER() = 1 by ascending row time is FirstRow.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/operator.h"
#include "api/plan_node.h"
#include "data/row_key.h"
#include "data/schema.h"
#include "op/row/change_builder.h"
#include "op/row/row_layout.h"
#include "op/row/state_charge.h"
#include "state/keyed_rows.h"
#include "state/row_list.h"

namespace caudal {

class TopN : public Operator {
 public:
  TopN(TopNNode node, const Schema& input, const Schema& output, int64_t ttl = 0);

  Status Open(const OperatorContext& context) override;
  Status OnRestore(const Watermark& watermark) override;
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override;
  Result<Progress> OnWatermark(const Watermark& watermark, Output& out) override;
  Result<Progress> Resume(Output& out) override;
  std::vector<StateTable*> state() override { return {&partitions_}; }
  bool passes_rows() const override { return false; }

 private:
  void Add(RowList& list, Output& out);
  void TakeAway(RowList& list, Output& out);
  // The row `old_row_` becomes `row_`, at the same place or nearer the front.
  void Raise(RowList& list, Output& out);
  // Emits the row if its rank is one of those asked for.
  void EmitRow(RowKind kind, std::string_view row, int64_t rank, Output& out);
  bool UpdateFollows() const;
  void DropEmpty();

  TopNNode node_;
  bool by_place_;  // each rank is updated in turn
  RowLayout layout_;
  RowListCodec codec_;
  KeyedRows partitions_;
  ChangeBuilder changes_;
  StateCharge charge_;
  Env* env_ = nullptr;
  int64_t* absorbed_ = nullptr;
  Watermark watermark_;

  // The chunk being worked through, and how far.
  Chunk chunk_;
  int32_t at_ = 0;
  RowKeys keys_;
  std::vector<KeyEntry*> entries_;
  std::string order_;
  std::string row_;
  std::string old_order_, old_row_;  // of an update that Raise handles
};

}  // namespace caudal
