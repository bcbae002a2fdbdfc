// Values: literal rows. They leave at the first watermark, which the runtime sends to begin with (kEnd, since
// nothing else can follow); after a restore they have left already.
#pragma once

#include <vector>

#include "api/operator.h"
#include "api/plan_node.h"
#include "data/schema.h"

namespace caudal {

class Values : public Operator {
 public:
  Values(ValuesNode node, Schema output) : node_(std::move(node)), output_(std::move(output)) {}

  // Evaluates the rows: an error in one of them is the error of the query.
  Status Open(const OperatorContext& context) override;
  Status OnRestore(const Watermark& watermark) override;
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override;
  Result<Progress> OnWatermark(const Watermark& watermark, Output& out) override;
  Result<Progress> Resume(Output& out) override;
  bool passes_rows() const override { return true; }

 private:
  ValuesNode node_;
  Schema output_;
  std::vector<Chunk> pending_;  // last first
};

}  // namespace caudal
