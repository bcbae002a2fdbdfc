// Deduplicate: DEDUPLICATE(…): the first row to arrive of each key at once, insert-only; then its repeats are
// duplicates while their clock is below its time + `retain`.
//
// A late row is rejected and neither looked up nor remembered. Rows pass as they are.
#pragma once

#include <memory>

#include "api/operator.h"
#include "api/plan_node.h"
#include "data/row_key.h"
#include "data/schema.h"
#include "op/row/state_charge.h"
#include "state/key_generations.h"

namespace caudal {

class Deduplicate : public Operator {
 public:
  Deduplicate(DeduplicateNode node, const Schema& input, bool batch);

  Status Open(const OperatorContext& context) override;
  Status OnRestore(const Watermark& watermark) override;
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override;
  Result<Progress> OnWatermark(const Watermark& watermark, Output& out) override;
  std::vector<StateTable*> state() override { return {&keys_seen_}; }
  bool passes_rows() const override { return true; }

 private:
  DeduplicateNode node_;
  bool has_clock_;
  KeyGenerations keys_seen_;
  StateCharge charge_;
  int64_t* duplicates_ = nullptr;
  // Reused from chunk to chunk.
  RowKeys keys_;
  std::vector<uint16_t> in_time_;
  std::vector<int64_t> times_;
  std::vector<int64_t> clocks_;
  std::vector<uint8_t> is_new_;
};

}  // namespace caudal
