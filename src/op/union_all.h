// UnionAll: UNION ALL. Every row passes as it is; the lanes have merged the inputs and their watermarks.
#pragma once

#include "api/operator.h"

namespace caudal {

class UnionAll : public Operator {
 public:
  Status Open(const OperatorContext& context) override { return Status(); }
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override {
    out.Emit(chunk);
    return Progress::kDone;
  }
  bool passes_rows() const override { return true; }
};

}  // namespace caudal
