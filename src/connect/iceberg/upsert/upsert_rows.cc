#include "connect/iceberg/upsert/upsert_rows.h"

#include "data/column_builder.h"

namespace caudal {

void UpsertRows::Grow() {
  std::vector<Slot> former(std::max<size_t>(1024, 2 * slots_.size()));
  former.swap(slots_);
  for (const Slot& slot : former) {
    if (slot.place != kFree) *Find(slot.key) = slot;
  }
}

UpsertRows::Slot* UpsertRows::Find(const iceberg::KeyHash& key) {
  const size_t mask = slots_.size() - 1;
  for (size_t at = key.low & mask;; at = (at + 1) & mask) {
    if (slots_[at].place == kFree || slots_[at].key == key) return &slots_[at];
  }
}

void UpsertRows::Add(const Chunk& chunk, const std::vector<ColumnPtr>& content) {
  const RowSet rows = chunk.rows();
  keys_.Encode(chunk, *key_, rows);
  Batch batch;
  std::vector<uint16_t> kept;
  for (int32_t i = 0; i < rows.count; ++i) {
    if (2 * (used_ + 1) > slots_.size()) Grow();
    const iceberg::KeyHash key = iceberg::HashKey(keys_.key(i), seed_);
    Slot* slot = Find(key);
    if (slot->place == kFree) {
      ++used_;
    } else {
      ++(slot->place == kGone ? folded_.removed : folded_.added);
    }
    slot->key = key;
    slot->place = kGone;
    if (!IsAdd(chunk.kind(rows[i]))) continue;
    slot->place = batches_.size() * Chunk::kMaxRows + kept.size();
    kept.push_back(static_cast<uint16_t>(rows[i]));
    batch.keys.push_back(key);
  }
  if (kept.empty()) return;
  const auto count = static_cast<int32_t>(kept.size());
  std::vector<ColumnPtr> columns;
  for (const ColumnPtr& column : content) columns.push_back(CopyRows(*column, kept.data(), count));
  batch.rows = Chunk(std::move(columns), count);
  bytes_ += static_cast<int64_t>(batch.rows.RetainedBytes() + batch.keys.size() * sizeof(iceberg::KeyHash));
  batches_.push_back(std::move(batch));
}

std::vector<SelectionPtr> UpsertRows::Live() const {
  std::vector<std::vector<bool>> live;
  for (const Batch& batch : batches_) live.emplace_back(batch.keys.size(), false);
  for (const Slot& slot : slots_) {
    if (slot.place < kGone) live[slot.place / Chunk::kMaxRows][slot.place % Chunk::kMaxRows] = true;
  }
  std::vector<SelectionPtr> selections;
  for (const std::vector<bool>& rows : live) {
    auto selection = std::make_unique<Selection>();
    for (size_t row = 0; row < rows.size(); ++row) {
      if (rows[row]) selection->rows.push_back(static_cast<uint16_t>(row));
    }
    selections.push_back(SelectionPtr(std::move(selection)));
  }
  return selections;
}

std::vector<iceberg::KeyHash> UpsertRows::Gone() const {
  std::vector<iceberg::KeyHash> gone;
  for (const Slot& slot : slots_) {
    if (slot.place == kGone) gone.push_back(slot.key);
  }
  return gone;
}

void UpsertRows::Clear() {
  batches_.clear();
  slots_.clear();
  used_ = 0;
  folded_ = {};
  bytes_ = 0;
}

}  // namespace caudal
