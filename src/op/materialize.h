// Materialize: folds a changelog by the sink's key, so that the sink sees one row a key at any time.
//
// Rows of a key are kept, by sign: a row that is taken away before it was added is owed, and its addition
// then cancels out. Of several rows the one added last is seen, as in Flink; which one that is matters only
// for a key that is not unique in the query's result.
#pragma once

#include <string>
#include <vector>

#include "api/operator.h"
#include "api/plan_node.h"
#include "data/row_key.h"
#include "data/schema.h"
#include "op/row/change_builder.h"
#include "op/row/row_layout.h"
#include "op/row/state_charge.h"
#include "state/keyed_rows.h"
#include "state/row_bag.h"

namespace caudal {

class Materialize : public Operator {
 public:
  Materialize(MaterializeNode node, const Schema& input, const Schema& output, int64_t ttl = 0);

  Status Open(const OperatorContext& context) override;
  Status OnRestore(const Watermark& watermark) override;
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override;
  Result<Progress> OnWatermark(const Watermark& watermark, Output& out) override;
  Result<Progress> Resume(Output& out) override;
  std::vector<StateTable*> state() override { return {&rows_}; }
  bool passes_rows() const override { return false; }

 private:
  void Fold(RowBag& bag, bool add, Output& out);
  void DropEmpty();
  void EmitRow(RowKind kind, std::string_view row, Output& out);

  MaterializeNode node_;
  RowLayout layout_;
  RowBagCodec codec_;
  KeyedRows rows_;
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
  std::string row_;
  std::string before_;
};

}  // namespace caudal
