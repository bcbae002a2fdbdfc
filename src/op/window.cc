#include "op/window.h"

#include <cstring>

#include "data/column_builder.h"
#include "op/lateness.h"
#include "op/row/row_lists.h"

namespace caudal {
namespace {

constexpr size_t kLabels = 3;

}  // namespace

Window::Window(WindowNode node, const Schema& input, const Schema& output)
    : node_(node), output_(output), one_to_one_(node.window.size == node.window.slide) {
  while (visible_ < input.fields.size() && !input.fields[visible_].name.starts_with('$')) ++visible_;
}

Status Window::Open(const OperatorContext& context) {
  TimeZone zone;
  if (node_.window.local_time_zone) {
    ASSIGN_OR_RETURN(zone, TimeZone::Find(context.evaluator.time_zone));
  }
  windows_ = std::make_unique<WindowSlices>(node_.window, std::move(zone));
  if (!one_to_one_) absorbed_ = context.fates->Get(Fate::kAbsorbed, "Window");
  return Status();
}

Chunk Window::WithLabels(std::vector<ColumnPtr> columns, int32_t rows, SelectionPtr selection,
                         RowKindsPtr kinds) {
  const Type types[] = {output_.fields[visible_].type, output_.fields[visible_ + 1].type,
                        output_.fields[visible_ + 2].type};
  MutableBufferPtr values[kLabels];
  int64_t ticks[kLabels];
  for (size_t l = 0; l < kLabels; ++l) {
    values[l] = Buffer::Allocate(static_cast<size_t>(rows) * sizeof(int64_t));
    ticks[l] = types[l].ticks_per_second() / 1000;
  }
  for (size_t i = 0; i < static_cast<size_t>(rows); ++i) {
    const int64_t end = window_of_[i];
    values[0]->mutable_as<int64_t>()[i] = windows_->StartLabel(end) * ticks[0];
    values[1]->mutable_as<int64_t>()[i] = windows_->EndLabel(end) * ticks[1];
    values[2]->mutable_as<int64_t>()[i] = windows_->TimeLabel(end) * ticks[2];
  }
  std::vector<ColumnPtr> labels;
  for (size_t l = 0; l < kLabels; ++l) {
    labels.push_back(Column::Flat(types[l], rows, std::move(values[l]), nullptr));
  }
  columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(visible_), labels.begin(), labels.end());
  return Chunk(std::move(columns), rows, std::move(selection), std::move(kinds));
}

Result<Progress> Window::OnChunk(int port, const Chunk& chunk, Output& out) {
  const TimeColumn time(*chunk.column(node_.window.time_column));
  std::vector<uint16_t> timeless;
  pending_.clear();
  for (int32_t i = 0; i < chunk.size(); ++i) {
    const uint16_t row = static_cast<uint16_t>(chunk.rows()[i]);
    (time.IsNull(row) ? timeless : pending_).push_back(row);
  }
  RejectNullTime(chunk, std::move(timeless), out);
  if (one_to_one_) {
    if (pending_.empty()) return Progress::kDone;
    window_of_.assign(static_cast<size_t>(chunk.physical_rows()), 0);
    for (uint16_t row : pending_) window_of_[row] = windows_->LastEnd(windows_->SliceOf(time[row]));
    out.Emit(WithLabels(chunk.columns(), chunk.physical_rows(), MakeSelection(pending_), chunk.kinds()));
    return Progress::kDone;
  }
  *absorbed_ += static_cast<int64_t>(pending_.size());
  chunk_ = chunk;
  at_ = 0;
  row_begun_ = false;
  return Resume(out);
}

Result<Progress> Window::Resume(Output& out) {
  std::vector<uint16_t> rows;
  while (at_ < pending_.size()) {
    if (out.full()) return Progress::kMore;
    const TimeColumn time(*chunk_.column(node_.window.time_column));
    rows.clear();
    window_of_.clear();
    while (at_ < pending_.size() && rows.size() < static_cast<size_t>(Chunk::kMaxRows)) {
      const int64_t slice = windows_->SliceOf(time[pending_[at_]]);
      if (!row_begun_) next_end_ = windows_->LastEnd(slice);
      row_begun_ = next_end_ >= windows_->FirstEnd(slice);
      if (!row_begun_) {
        ++at_;
        continue;
      }
      rows.push_back(pending_[at_]);
      window_of_.push_back(next_end_);
      next_end_ = windows_->PreviousEnd(next_end_);
    }
    if (rows.empty()) break;
    const int32_t count = static_cast<int32_t>(rows.size());
    std::vector<ColumnPtr> columns;
    for (const ColumnPtr& column : chunk_.columns()) columns.push_back(CopyRows(*column, rows.data(), count));
    RowKindsPtr kinds;
    if (!chunk_.insert_only()) {
      auto copied = MakeRowKinds();
      for (uint16_t row : rows) copied->push_back(chunk_.kind(row));
      kinds = std::move(copied);
    }
    out.Emit(WithLabels(std::move(columns), count, nullptr, std::move(kinds)));
  }
  chunk_ = Chunk();
  return Progress::kDone;
}

}  // namespace caudal
