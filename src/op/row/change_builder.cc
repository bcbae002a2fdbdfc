#include "op/row/change_builder.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "op/row/row_lists.h"

namespace caudal {

ChangeBuilder::ChangeBuilder(const Schema& output)
    : has_clock_(output.size() > 0 && output.fields.back().name == kClockColumn) {
  if (has_clock_) clock_type_ = output.fields.back().type;
  const size_t columns = output.fields.size() - (has_clock_ ? 1 : 0);
  for (size_t i = 0; i < columns; ++i) builders_.emplace_back(output.fields[i].type);
}

void ChangeBuilder::Emit(int64_t clock, Output& out) {
  if (empty()) return;
  const int32_t rows = size();
  std::vector<ColumnPtr> columns;
  for (ColumnBuilder& builder : builders_) columns.push_back(builder.Finish());
  if (has_clock_) columns.push_back(ConstantColumn(clock_type_, Value(clock), rows));

  SelectionPtr selection;
  if (!std::is_sorted(places_.begin(), places_.end())) {
    std::vector<uint16_t> order(static_cast<size_t>(rows));
    std::iota(order.begin(), order.end(), uint16_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](uint16_t a, uint16_t b) { return places_[a] < places_[b]; });
    selection = MakeSelection(std::move(order));
  }
  const bool insert_only =
      std::all_of(kinds_.begin(), kinds_.end(), [](RowKind kind) { return kind == RowKind::kInsert; });
  RowKindsPtr kinds;
  if (!insert_only) kinds = std::make_unique<std::vector<RowKind>>(std::move(kinds_));
  kinds_.clear();
  places_.clear();
  out.Emit(Chunk(std::move(columns), rows, std::move(selection), std::move(kinds)));
}

}  // namespace caudal
