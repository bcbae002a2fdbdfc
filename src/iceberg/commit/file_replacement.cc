#include "iceberg/commit/file_replacement.h"

#include <algorithm>

namespace caudal::iceberg {

RowMoves::RowMoves(const FileReplacement* replacement) : replacement_(replacement) {
  int64_t live = 0;
  for (const RewrittenFile& file : replacement->from) {
    first_.push_back(live);
    live += file.records - static_cast<int64_t>(file.gone.size());
  }
  int64_t rows = 0;
  for (const DataFile& file : replacement->to) behind_.push_back(rows += file.record_count);
}

std::optional<RowMoves::Place> RowMoves::Find(size_t from, int64_t position) const {
  const RewrittenFile& file = replacement_->from[from];
  const auto before = std::lower_bound(file.gone.begin(), file.gone.end(), position);
  if (position < 0 || position >= file.records) return std::nullopt;
  if (before != file.gone.end() && *before == position) return std::nullopt;
  int64_t row = first_[from] + position - (before - file.gone.begin());
  if (!replacement_->order.empty()) row = replacement_->order[static_cast<size_t>(row)];
  const auto at = std::upper_bound(behind_.begin(), behind_.end(), row);
  if (at == behind_.end()) return std::nullopt;
  const auto number = static_cast<size_t>(at - behind_.begin());
  return Place{number, row - (number == 0 ? 0 : behind_[number - 1])};
}

}  // namespace caudal::iceberg
