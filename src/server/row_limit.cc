#include "server/row_limit.h"

#include <algorithm>
#include <memory>

namespace caudal {

std::optional<RowLimit> RowLimit::TakeFrom(Plan* plan) {
  const SortNode* sort = plan->nodes.empty() ? nullptr : plan->nodes.back().as<SortNode>();
  if (sort == nullptr || !sort->keys.empty() || sort->limit < 0) return std::nullopt;
  const bool one_by_one = std::all_of(plan->nodes.begin(), plan->nodes.end() - 1, [](const PlanNode& node) {
    return node.kinds.insert_only() && (node.as<ScanNode>() || node.as<ValuesNode>() || node.as<CalcNode>() ||
                                        node.as<WindowNode>() || node.as<UnionNode>());
  });
  // The node in front must be the last one: its rows are the result.
  const size_t size = plan->nodes.size();
  if (!one_by_one || plan->nodes.back().inputs[0].node != static_cast<int>(size) - 2) return std::nullopt;
  std::optional<RowLimit> limit(std::in_place, sort->offset, sort->limit);
  plan->nodes.pop_back();
  plan->batch = false;
  return limit;
}

Status RowLimit::Pass(const Chunk& chunk, const RowsConsumer& consumer) {
  const int64_t size = chunk.size();
  const int64_t begin = std::min(skip_, size);
  const int64_t end = begin + std::min(left_, size - begin);
  skip_ -= begin;
  left_ -= end - begin;
  Status status;
  if (end > begin) {
    auto selection = std::make_unique<Selection>();
    for (int64_t i = begin; i < end; ++i)
      selection->rows.push_back(static_cast<uint16_t>(chunk.rows()[static_cast<int32_t>(i)]));
    status = consumer(chunk.WithSelection(SelectionPtr(std::move(selection))));
  }
  if (left_ == 0) reached_ = true;
  return status;
}

}  // namespace caudal
