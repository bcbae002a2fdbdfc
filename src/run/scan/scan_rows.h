// ScanRows: from what a reader gives to the rows of a Scan node: NOT NULL check, computed columns, clock,
// hidden columns.
//
// One for each source task, one thread. Rows that fail are handed to the caller, first failure first, and do
// not move the clock.
#pragma once

#include <functional>
#include <vector>

#include "api/connector.h"
#include "api/operator.h"
#include "api/plan.h"
#include "expr/evaluator.h"
#include "run/scan/split_clock.h"

namespace caudal {

class ScanRows {
 public:
  // `node` is a Scan. `dead_letter`: also read what a row of this table shows ($offset, $raw, its key and
  // headers); null = there is none. `batch`: no clock.
  ScanRows(const PlanNode& node, const Table* dead_letter, bool batch, int64_t max_skew);

  // What the reader must deliver.
  const ReadRequest& request() const { return request_; }
  // Of the rows given to `reject`: the table's columns, then the hidden ones.
  const Schema& rejected_schema() const { return full_schema_; }

  struct Input {
    const SourceRows* read = nullptr;
    int split = 0;
    int64_t wall_millis = 0;
    ChunkOriginPtr origin = nullptr;
  };
  // `reject(chunk, rejection)`: rows of rejected_schema() that break the contract or an expression.
  using Reject = std::function<void(const Chunk&, Rejection)>;
  Chunk Make(const Input& input, SplitClock& clock, Evaluator& evaluator, const Reject& reject);

  int64_t rows_ahead() const { return rows_ahead_; }  // too far in the future to move a clock

 private:
  Chunk FullChunk(const Input& input) const;
  static ColumnPtr Hidden(const Field& field, const Input& input);
  void CheckContract(const Chunk& full, std::vector<uint16_t>* rows, const Reject& reject) const;
  ColumnPtr EvalOrReject(const Expr& expr, const Chunk& full, Evaluator& evaluator,
                         std::vector<uint16_t>* rows, const Reject& reject) const;

  const PlanNode& node_;
  const ScanNode& scan_;
  bool batch_;
  int64_t max_skew_;
  ReadRequest request_;
  Schema full_schema_;
  std::vector<int> read_of_column_;  // by position in full_schema_: field of the request; -1 = not read
  std::vector<int> not_null_;        // table columns to check
  std::vector<int> computed_;        // table columns to evaluate
  int64_t rows_ahead_ = 0;
};

}  // namespace caudal
