// Sort: ORDER BY, LIMIT and OFFSET of a bounded result: keeps the rows, orders them at the end, and emits the
// part asked for. Equal rows stay in the order in which they came. With a limit it keeps few more than that.
#pragma once

#include <string>
#include <vector>

#include "api/operator.h"
#include "api/plan_node.h"
#include "data/schema.h"
#include "op/row/change_builder.h"
#include "op/row/row_layout.h"
#include "op/row/state_charge.h"
#include "state/keyed_rows.h"
#include "state/row_list.h"

namespace caudal {

class Sort : public Operator {
 public:
  Sort(SortNode node, const Schema& input, const Schema& output);

  Status Open(const OperatorContext& context) override;
  Status OnRestore(const Watermark& watermark) override;
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override;
  Result<Progress> OnWatermark(const Watermark& watermark, Output& out) override;
  Result<Progress> Resume(Output& out) override;
  std::vector<StateTable*> state() override { return {&rows_}; }
  bool passes_rows() const override { return false; }

 private:
  // The rows' list, under the one key there is.
  KeyEntry* Entry() { return rows_.FindOrInsert({}, RowKeys::Hash({})); }
  void Prune(RowList& list) const;

  SortNode node_;
  RowLayout layout_;
  RowListCodec codec_;
  KeyedRows rows_;
  ChangeBuilder changes_;
  StateCharge charge_;
  int64_t* absorbed_ = nullptr;
  Watermark watermark_;
  bool emitted_ = false;
  int64_t next_ = -1;  // the place to emit next; -1: not yet sorted
  std::string order_;
  std::string row_;
};

}  // namespace caudal
