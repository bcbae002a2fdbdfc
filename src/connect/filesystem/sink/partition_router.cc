#include "connect/filesystem/sink/partition_router.h"

#include <algorithm>
#include <cstring>

#include "connect/filesystem/partition_path.h"
#include "data/column_view.h"

namespace caudal {
namespace {

constexpr uint16_t kNoShare = UINT16_MAX;

template <typename T>
bool SameFixed(const Column& column, int32_t a, int32_t b) {
  const ColumnView<T> view(column);
  return view[a] == view[b];
}

bool SameValue(const Column& column, int32_t a, int32_t b) {
  if (column.encoding() == Encoding::kConstant) return true;
  const bool null = column.IsNull(a);
  if (null || column.IsNull(b)) return null && column.IsNull(b);
  if (column.encoding() == Encoding::kDictionary) return column.codes()[a] == column.codes()[b];
  switch (column.type().physical()) {
    case Physical::kBool:
    case Physical::kInt8:
      return SameFixed<int8_t>(column, a, b);
    case Physical::kInt16:
      return SameFixed<int16_t>(column, a, b);
    case Physical::kInt32:
      return SameFixed<int32_t>(column, a, b);
    case Physical::kInt128:
      return SameFixed<int128_t>(column, a, b);
    case Physical::kString:
      return SameFixed<StringView>(column, a, b);
    default:
      return SameFixed<int64_t>(column, a, b);
  }
}

}  // namespace

bool PartitionRouter::SamePartition(const Chunk& chunk, int32_t a, int32_t b) const {
  for (const int column : columns_) {
    if (!SameValue(*chunk.column(column), a, b)) return false;
  }
  return true;
}

std::string PartitionRouter::PathOf(const Chunk& chunk, int32_t row) const {
  std::vector<std::pair<std::string, std::string>> values;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = *chunk.column(columns_[i]);
    std::string text = column.IsNull(row) ? null_name_ : PartitionText(column, row);
    // Flink and Hive have no folder for the empty text either.
    values.emplace_back(names_[i], text.empty() ? null_name_ : std::move(text));
  }
  return MakePartitionPath(values);
}

uint16_t* PartitionRouter::SlotOf(const Chunk& chunk, int32_t i) {
  const size_t mask = slots_.size() - 1;
  for (size_t at = keys_.hash(i) & mask;; at = (at + 1) & mask) {
    uint16_t& slot = slots_[at];
    if (slot == kNoShare || SamePartition(chunk, shares_[slot].rows[0], chunk.rows()[i])) return &slot;
  }
}

void PartitionRouter::FillSlots(const Chunk& chunk, size_t used) {
  keys_.Encode(chunk, columns_, chunk.rows());
  slots_.assign(size_t{2} * Chunk::kMaxRows, kNoShare);
  for (size_t share = 0; share < used; ++share) *SlotOf(chunk, first_[share]) = static_cast<uint16_t>(share);
}

const std::vector<PartitionShare>& PartitionRouter::Split(const Chunk& chunk) {
  const RowSet rows = chunk.rows();
  size_t used = 0;
  size_t current = 0;
  first_.clear();
  const bool same = std::all_of(columns_.begin(), columns_.end(), [&](int column) {
    return chunk.column(column)->encoding() == Encoding::kConstant;
  });
  for (int32_t i = 0; i < rows.count; ++i) {
    const int32_t row = rows[i];
    if (used == 0 || !(same || SamePartition(chunk, shares_[current].rows[0], row))) {
      uint16_t* slot = nullptr;
      if (used < kFew) {
        for (current = 0; current < used && !SamePartition(chunk, shares_[current].rows[0], row);) ++current;
      } else {
        if (used == kFew) FillSlots(chunk, used);
        slot = SlotOf(chunk, i);
        current = *slot == kNoShare ? used : *slot;
      }
      if (current == used) {
        if (used == shares_.size()) shares_.emplace_back();
        shares_[used].rows.clear();
        shares_[used].folder = columns_.empty() ? std::string() : PathOf(chunk, row);
        first_.push_back(i);
        if (slot != nullptr) *slot = static_cast<uint16_t>(used);
        ++used;
      }
    }
    shares_[current].rows.push_back(static_cast<uint16_t>(row));
  }
  shares_.resize(used);
  return shares_;
}

}  // namespace caudal
