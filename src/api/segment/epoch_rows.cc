#include "api/segment/epoch_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/segment/cell.h"
#include "data/int128.h"

namespace caudal {
namespace {

constexpr size_t kFirstSlots = 1024;
constexpr size_t kDeadBytesKept = 1 << 20;
constexpr size_t kSmallestBlock = 16 << 10;
constexpr size_t kLargestBlock = 1 << 20;

}  // namespace

void EpochRows::Add(const Chunk& chunk) {
  const RowSet selected = chunk.rows();
  std::vector<CellEncoder> cells;
  std::vector<CellEncoder> key_cells;
  for (const ColumnPtr& column : chunk.columns()) cells.emplace_back(*column);
  for (const int column : key_) key_cells.emplace_back(*chunk.column(column));
  if (!key_.empty()) keys_.Encode(chunk, key_, selected);
  uint32_t replaced = 0;  // -U whose +U follows at once with the same key
  for (int32_t i = 0; i < selected.count; ++i) {
    const int32_t at = selected[i];
    const RowKind kind = chunk.kind(at);
    const std::string_view key = key_.empty() ? std::string_view() : keys_.key(i);
    if (kind == RowKind::kUpdateBefore && i + 1 < selected.count && !key_.empty() &&
        chunk.kind(selected[i + 1]) == RowKind::kUpdateAfter && keys_.key(i + 1) == key) {
      replaced = 1;
      continue;
    }
    Row* row = Find(key, key_.empty() ? 0 : keys_.hash(i));
    (IsAdd(kind) ? row->added : row->removed) += 1;
    row->removed += std::exchange(replaced, 0);
    row->is_delete = !IsAdd(kind);
    cells_.clear();
    for (const CellEncoder& cell : row->is_delete ? key_cells : cells) cell.Append(at, &cells_);
    Put(key, row);
  }
  if (dead_bytes_ > kDeadBytesKept && dead_bytes_ > block_bytes_ / 2) DropDeadBytes();
}

void EpochRows::Put(std::string_view key, Row* row) {
  const auto size = static_cast<uint32_t>(cells_.size());
  if (size <= row->cells_size) {
    // Counts and times of a newer row are mostly as long as they were.
    dead_bytes_ += row->cells_size - size;
  } else {
    dead_bytes_ += row->key_size + row->cells_size;
    row->bytes = Reserve(key.size() + size);
    row->key_size = static_cast<uint32_t>(key.size());
    key.copy(row->bytes, key.size());
  }
  row->cells_size = size;
  cells_.copy(row->bytes + row->key_size, size);
}

char* EpochRows::Reserve(size_t size) {
  if (size > free_bytes_) {
    const size_t block = std::max(size, std::clamp(block_bytes_, kSmallestBlock, kLargestBlock));
    dead_bytes_ += free_bytes_;
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block));
    free_ = blocks_.back().get();
    free_bytes_ = block;
    block_bytes_ += block;
  }
  free_bytes_ -= size;
  return std::exchange(free_, free_ + size);
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
  const std::vector<std::unique_ptr<char[]>> old = std::exchange(blocks_, {});
  free_bytes_ = block_bytes_ = 0;
  for (Row& row : rows_) {
    const size_t size = row.key_size + row.cells_size;
    row.bytes = std::copy_n(row.bytes, size, Reserve(size)) - size;
  }
  dead_bytes_ = 0;
}

size_t EpochRows::CommonPrefix() const {
  if (rows_.empty()) return 0;
  const std::string_view first = key(rows_[0]);
  size_t common = first.size();
  for (const Row& row : rows_) {
    const std::string_view other = key(row);
    const size_t most = std::min(common, other.size());
    common = 0;
    while (common < most && first[common] == other[common]) ++common;
  }
  return common;
}

std::vector<const EpochRows::Row*> EpochRows::Ordered() const {
  // Keys begin alike ("acc-000…"): what makes the difference is compared as one number, without a look at the
  // bytes of two keys far apart.
  struct Place {
    uint128_t head;  // of the key behind the common prefix, big endian
    const Row* row;
  };
  const size_t common = CommonPrefix();
  std::vector<Place> places;
  places.reserve(rows_.size());
  for (const Row& row : rows_) {
    unsigned char head[16] = {};
    if (!key_.empty()) {
      const std::string_view rest = key(row).substr(common, sizeof(head));
      std::memcpy(head, rest.data(), rest.size());
    }
    uint64_t high = 0, low = 0;
    std::memcpy(&high, head, 8);
    std::memcpy(&low, head + 8, 8);
    places.push_back({static_cast<uint128_t>(__builtin_bswap64(high)) << 64 | __builtin_bswap64(low), &row});
  }
  if (!key_.empty()) {
    std::sort(places.begin(), places.end(), [this](const Place& a, const Place& b) {
      return a.head != b.head ? a.head < b.head : key(*a.row) < key(*b.row);
    });
  }
  std::vector<const Row*> ordered;
  ordered.reserve(places.size());
  for (const Place& place : places) ordered.push_back(place.row);
  return ordered;
}

int64_t EpochRows::bytes() const {
  return static_cast<int64_t>(block_bytes_ + rows_.size() * sizeof(Row) + hashes_.capacity() * 8 +
                              slots_.capacity() * 4);
}

}  // namespace caudal
