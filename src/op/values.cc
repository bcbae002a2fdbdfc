#include "op/values.h"

#include <algorithm>

#include "data/column_builder.h"

namespace caudal {

Status Values::Open(const OperatorContext& context) {
  const size_t rows_a_chunk = static_cast<size_t>(Chunk::kMaxRows);
  for (size_t first = 0; first < node_.rows.size(); first += rows_a_chunk) {
    const size_t last = std::min(first + rows_a_chunk, node_.rows.size());
    std::vector<ColumnPtr> columns;
    for (size_t c = 0; c < static_cast<size_t>(output_.size()); ++c) {
      ColumnBuilder builder(output_.fields[c].type);
      for (size_t r = first; r < last; ++r) {
        if (c >= node_.rows[r].size()) {
          builder.AppendValue(Value(Watermark::kNone));  // $clock: no split has begun
          continue;
        }
        ASSIGN_OR_RETURN(const Value value, EvalConstant(node_.rows[r][c], context.evaluator));
        builder.AppendValue(value);
      }
      columns.push_back(builder.Finish());
    }
    pending_.emplace_back(std::move(columns), static_cast<int32_t>(last - first));
  }
  std::reverse(pending_.begin(), pending_.end());
  return Status();
}

Status Values::OnRestore(const Watermark& watermark) {
  if (watermark.event != Watermark::kNone) pending_.clear();
  return Status();
}

Result<Progress> Values::OnChunk(int port, const Chunk& chunk, Output& out) {
  return Status::Internal("VALUES has no input");
}

Result<Progress> Values::OnWatermark(const Watermark& watermark, Output& out) { return Resume(out); }

Result<Progress> Values::Resume(Output& out) {
  while (!pending_.empty()) {
    if (out.full()) return Progress::kMore;
    out.Emit(std::move(pending_.back()));
    pending_.pop_back();
  }
  return Progress::kDone;
}

}  // namespace caudal
