#include "expr/column_merge.h"

#include "data/column_builder.h"
#include "expr/kernel.h"
#include "expr/physical_dispatch.h"
#include "expr/string_output.h"

namespace caudal {
namespace {

template <typename T>
ColumnPtr MergeFixed(const std::vector<ColumnPtr>& sources, const std::vector<int16_t>& source_of,
                     const Type& type) {
  const int32_t rows = static_cast<int32_t>(source_of.size());
  Output<T> out(rows);
  std::vector<ColumnView<T>> views;
  for (const ColumnPtr& source : sources) views.emplace_back(*source);
  for (int32_t row = 0; row < rows; ++row) {
    const int16_t source = source_of[static_cast<size_t>(row)];
    if (source < 0 || views[static_cast<size_t>(source)].IsNull(row)) {
      out.SetNull(row);
    } else {
      out.Set(row, views[static_cast<size_t>(source)][row]);
    }
  }
  return out.Finish(type);
}

}  // namespace

ColumnMerge::ColumnMerge(Type type, int32_t rows)
    : type_(std::move(type)), rows_(rows), source_of_(static_cast<size_t>(rows), -1) {}

void ColumnMerge::Take(const ColumnPtr& column, RowSet rows) {
  if (rows.count == 0) return;
  const int16_t source = static_cast<int16_t>(sources_.size());
  sources_.push_back(column);
  ForEachRow(rows, [&](int32_t row) { source_of_[static_cast<size_t>(row)] = source; });
  taken_ += rows.count;
}

ColumnPtr ColumnMerge::FinishNested() {
  ColumnBuilder builder(type_, rows_);
  for (int32_t row = 0; row < rows_; ++row) {
    const int16_t source = source_of_[static_cast<size_t>(row)];
    if (source < 0) {
      builder.AppendNull();
    } else {
      builder.AppendFrom(*sources_[static_cast<size_t>(source)], row);
    }
  }
  return builder.Finish();
}

ColumnPtr ColumnMerge::Finish() {
  if (sources_.empty()) return Column::Null(type_, rows_);
  if (sources_.size() == 1 && taken_ == rows_) return sources_[0]->WithType(type_);
  const Physical physical = type_.physical();
  if (physical == Physical::kNull) return Column::Null(type_, rows_);
  if (!type_.children().empty()) return FinishNested();
  if (physical != Physical::kString) {
    return DispatchFixed(physical, [&]<typename T>() { return MergeFixed<T>(sources_, source_of_, type_); });
  }
  StringOutput out(rows_);
  std::vector<ColumnView<StringView>> views;
  for (const ColumnPtr& source : sources_) {
    out.KeepAlive(source);
    views.emplace_back(*source);
  }
  for (int32_t row = 0; row < rows_; ++row) {
    const int16_t source = source_of_[static_cast<size_t>(row)];
    if (source < 0 || views[static_cast<size_t>(source)].IsNull(row)) {
      out.SetNull(row);
    } else {
      out.Share(row, views[static_cast<size_t>(source)][row]);
    }
  }
  return out.Finish(type_);
}

}  // namespace caudal
