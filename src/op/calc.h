// Calc: WHERE and SELECT. Filters in order, each counted under its name for the rows that it stops first;
// then the projections over what is left.
//
// A row whose expression fails is rejected as dead{expression}; one that would take away such a row is
// filtered{rejected before}. Holds nothing. Hidden columns of the output
// that have no projection are passed through by name. Row kinds stay as they are.
#pragma once

#include <string>
#include <vector>

#include "api/operator.h"
#include "api/plan_node.h"
#include "data/schema.h"
#include "expr/evaluator.h"

namespace caudal {

class Calc : public Operator {
 public:
  Calc(CalcNode node, const Schema& input, const Schema& output);

  Status Open(const OperatorContext& context) override;
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override;
  bool passes_rows() const override { return true; }

 private:
  // Leaves in `kept_` the rows that pass every filter without error; false if every row of the chunk does.
  bool Filter(const Chunk& chunk, RowErrors& errors);
  void Blame(const std::string& expression, const RowErrors& errors);
  void RejectErrors(const Chunk& chunk, const RowErrors& errors, Output& out);

  CalcNode node_;
  Evaluator evaluator_;
  Env* env_ = nullptr;
  FateCounters* fates_ = nullptr;
  std::vector<int64_t*> filtered_;  // one a filter
  std::vector<uint16_t> kept_;
  std::vector<uint16_t> passed_;
  std::vector<std::string> blamed_;  // one a row error of this chunk: the expression
};

}  // namespace caudal
