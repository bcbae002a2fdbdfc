// FirstRow: ROW_NUMBER() OVER (PARTITION BY … ORDER BY <row time>) = 1: of each partition the row with the
// earliest time, insert-only: it leaves when the watermark reaches that time, since no earlier one can come.
//
// Rows behind their clock are late; rows of a partition whose first row has left count for nothing. A
// partition is remembered for `ttl` ms of processing time after its first row has left; 0 = for ever. Rows
// leave in the order of their times, then of the keys' hashes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/operator.h"
#include "api/plan_node.h"
#include "data/row_key.h"
#include "data/schema.h"
#include "op/row/change_builder.h"
#include "op/row/row_layout.h"
#include "op/row/state_charge.h"
#include "state/bytes_row.h"
#include "state/keyed_rows.h"

namespace caudal {

class FirstRow : public Operator {
 public:
  // REQUIRES: node.rowtime_first, which has no rank column.
  FirstRow(TopNNode node, const Schema& input, const Schema& output, bool batch, int64_t ttl = 0);

  Status Open(const OperatorContext& context) override;
  Status OnRestore(const Watermark& watermark) override;
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override;
  Result<Progress> OnWatermark(const Watermark& watermark, Output& out) override;
  Result<Progress> Resume(Output& out) override;
  std::vector<StateTable*> state() override { return {&partitions_}; }
  bool passes_rows() const override { return false; }

 private:
  // The row's bytes in the table: when it leaves, and what; just one byte once it has left.
  static bool HasLeft(std::string_view held) { return held.size() == 1; }
  static int64_t TimeOf(std::string_view held);
  void AddDue(int64_t time, KeyEntry* entry);

  TopNNode node_;
  int time_column_;
  int clock_column_;
  RowLayout layout_;
  BytesRow codec_;
  KeyedRows partitions_;
  // Partitions by the time when they are due; one whose row was replaced stands here under both times.
  std::map<int64_t, std::vector<KeyEntry*>> due_;
  ChangeBuilder changes_;
  StateCharge charge_;
  Env* env_ = nullptr;
  int64_t* absorbed_ = nullptr;
  Watermark watermark_;  // the last one whose work is done
  Watermark target_;

  RowKeys keys_;
  std::vector<KeyEntry*> entries_;
  std::vector<uint16_t> in_time_;
  std::string held_;
};

}  // namespace caudal
