#include "connect/jdbc/epoch_rows.h"

#include <algorithm>

#include "connect/jdbc/cell.h"

namespace caudal {
namespace {

constexpr size_t kFirstSlots = 1024;
constexpr uint64_t kDeadBytesKept = 1 << 20;

}  // namespace

void EpochRows::Add(const Chunk& chunk) {
  const RowSet selected = chunk.rows();
  std::vector<CellEncoder> cells;
  std::vector<CellEncoder> key_cells;
  for (const ColumnPtr& column : chunk.columns()) cells.emplace_back(*column);
  for (const int column : key_) key_cells.emplace_back(*chunk.column(column));
  if (!key_.empty()) keys_.Encode(chunk, key_, selected);
  for (int32_t i = 0; i < selected.count; ++i) {
    const int32_t at = selected[i];
    const RowKind kind = chunk.kind(at);
    const std::string_view key = key_.empty() ? std::string_view() : keys_.key(i);
    Row* row = Find(key, key_.empty() ? 0 : keys_.hash(i));
    (IsAdd(kind) ? row->added : row->removed) += 1;
    if (kind == RowKind::kUpdateBefore && row->key_size + row->cells_size > 0) continue;
    dead_bytes_ += row->key_size + row->cells_size;
    row->begin = bytes_.size();
    bytes_.append(key);
    row->key_size = static_cast<uint32_t>(key.size());
    row->is_delete = !IsAdd(kind);
    for (const CellEncoder& cell : row->is_delete ? key_cells : cells) cell.Append(at, &bytes_);
    row->cells_size = static_cast<uint32_t>(bytes_.size() - row->begin - key.size());
  }
  if (dead_bytes_ > kDeadBytesKept && dead_bytes_ > bytes_.size() / 2) DropDeadBytes();
}

EpochRows::Row* EpochRows::Find(std::string_view key, uint64_t hash) {
  if (key_.empty()) return &rows_.emplace_back();
  if (slots_.size() < (rows_.size() + 1) * 2) GrowSlots();
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const size_t at = slots_[slot] - 1;
    if (hashes_[at] == hash && this->key(rows_[at]) == key) return &rows_[at];
    slot = (slot + 1) & mask;
  }
  rows_.emplace_back();
  hashes_.push_back(hash);
  slots_[slot] = static_cast<uint32_t>(rows_.size());
  return &rows_.back();
}

void EpochRows::GrowSlots() {
  slots_.assign(std::max(kFirstSlots, slots_.size() * 2), 0);
  const size_t mask = slots_.size() - 1;
  for (size_t at = 0; at < rows_.size(); ++at) {
    size_t slot = hashes_[at] & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<uint32_t>(at + 1);
  }
}

void EpochRows::DropDeadBytes() {
  std::string live;
  live.reserve(bytes_.size() - dead_bytes_);
  for (Row& row : rows_) {
    const uint64_t begin = live.size();
    live.append(bytes_, row.begin, row.key_size + row.cells_size);
    row.begin = begin;
  }
  bytes_ = std::move(live);
  dead_bytes_ = 0;
}

std::vector<const EpochRows::Row*> EpochRows::Ordered() const {
  std::vector<const Row*> ordered;
  ordered.reserve(rows_.size());
  for (const Row& row : rows_) ordered.push_back(&row);
  if (!key_.empty()) {
    std::sort(ordered.begin(), ordered.end(),
              [this](const Row* a, const Row* b) { return key(*a) < key(*b); });
  }
  return ordered;
}

int64_t EpochRows::bytes() const {
  return static_cast<int64_t>(bytes_.capacity() + rows_.capacity() * sizeof(Row) + hashes_.capacity() * 8 +
                              slots_.capacity() * 4);
}

}  // namespace caudal
