// Aggregate: GROUP BY and SELECT DISTINCT without a window. What is emitted equals row-at-a-time execution:
// +I with a group's first row, -U/+U when its result changes, -D when its last row is taken away.
//
// A chunk is worked through in rounds, in each of which a group stands once, so that all calls are batched;
// the changes then leave in the order of the input's rows. With mini-batch only the difference since the last
// flush leaves. At the end of a batch query (Emit::kOnEnd) each group leaves once, in the order of hashes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/operator.h"
#include "api/plan_node.h"
#include "data/row_key.h"
#include "data/schema.h"
#include "op/row/accumulator_row.h"
#include "op/row/change_builder.h"
#include "op/row/state_charge.h"
#include "state/keyed_rows.h"

namespace caudal {

class Aggregate : public Operator {
 public:
  // `ttl`: ms of processing time after which a group that got no row is forgotten; 0 = never. With one, as in
  // Flink, an unchanged result leaves again, which keeps the state behind alive; but for SELECT DISTINCT,
  // which is planned as insert-only.
  Aggregate(AggregateNode node, const Schema& input, const Schema& output,
            std::unique_ptr<AccumulatorRow> accumulators, int64_t ttl = 0);

  Status Open(const OperatorContext& context) override;
  Status OnRestore(const Watermark& watermark) override;
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override;
  Result<Progress> OnWatermark(const Watermark& watermark, Output& out) override;
  Result<Progress> OnFlush(FlushBefore next, Output& out) override;
  Result<Progress> Resume(Output& out) override;
  std::vector<StateTable*> state() override { return {&groups_}; }
  bool passes_rows() const override { return false; }

 private:
  enum class Pending : uint8_t { kNothing, kFlush, kEnd };

  void HandleBlock(const Chunk& chunk, RowSet rows, Output& out);
  // Rows of `round` (positions in the block), no group twice.
  void HandleRound(const Chunk& chunk, RowSet rows, const std::vector<int32_t>& round);
  // -D, +I, or -U and +U, or nothing; results as bytes behind a 1, empty: the group has no row.
  void EmitChange(const KeyEntry& entry, std::string_view before, std::string_view now, int32_t place);
  // Drops the groups of the block that have no row.
  void DropEmpty();
  void ResultsOf(const std::vector<KeyEntry*>& groups, std::vector<ColumnPtr>* results);
  Progress FlushSome(Output& out);
  Progress EmitAll(Output& out);

  AggregateNode node_;
  std::vector<Type> key_types_;
  std::vector<Type> result_types_;
  bool defer_ = false;  // emit at flush or end
  std::unique_ptr<AccumulatorRow> accumulators_;
  KeyedRows groups_;
  ChangeBuilder changes_;
  const bool refreshes_;  // sends -U and +U of a result that stays the same
  StateCharge charge_;
  Env* env_ = nullptr;
  int64_t* absorbed_ = nullptr;
  Watermark watermark_;  // the last one whose work is done
  Watermark target_;
  Pending pending_work_ = Pending::kNothing;
  KeyedRows::Cursor cursor_;
  bool end_emitted_ = false;

  // Mini-batch: groups changed since the last flush, with what was emitted of them before (empty: nothing).
  // entry->scratch is the place + 1.
  struct PendingGroup {
    KeyEntry* entry;
    std::string before;
  };
  std::vector<PendingGroup> pending_;
  size_t flushed_ = 0;

  // Reused from block to block.
  RowKeys keys_;
  std::vector<KeyEntry*> entries_;
  std::vector<std::vector<int32_t>> rounds_;
  std::vector<char*> rows_;
  std::vector<uint16_t> picked_;
  std::vector<KeyEntry*> existing_;
  std::vector<const char*> result_rows_;
  std::vector<ColumnBuilder> result_builders_;
};

}  // namespace caudal
