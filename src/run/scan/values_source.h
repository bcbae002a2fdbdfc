// ValuesSource: the literal rows of a Values node as a bounded source of one split, so that they are read,
// counted and checkpointed like any other.
#pragma once

#include "api/plan.h"
#include "api/source.h"
#include "expr/evaluator.h"

namespace caudal {

class ValuesSource : public Source {
 public:
  // Evaluates the rows: an error in one of them is the error of the query.
  static Result<std::unique_ptr<Source>> Make(const PlanNode& node, const EvaluatorOptions& options);

  bool bounded() const override { return true; }
  std::unique_ptr<SplitEnumerator> MakeEnumerator() override;
  Result<std::unique_ptr<SplitReader>> Open(const Split& split, const Position& position) override;

 private:
  explicit ValuesSource(Chunk rows) : rows_(std::move(rows)) {}
  Chunk rows_;
};

// The node as the Scan of a table that has the node's columns, which SourceTask reads.
PlanNode ScanOfValues(const PlanNode& node);

}  // namespace caudal
