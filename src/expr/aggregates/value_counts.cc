#include "expr/aggregates/value_counts.h"

namespace caudal {
namespace {

constexpr size_t kFirstSlots = 4;
constexpr size_t kInSlot = 15;  // bytes of a string that lie in it

int64_t LongBytes(std::string_view value) {
  return value.size() > kInSlot ? static_cast<int64_t>(value.size()) + 1 : 0;
}

}  // namespace

size_t ValueCounts::Table::Find(std::string_view value, uint64_t hash) const {
  size_t at = Home(hash);
  while (slots_[at].count != 0 && slots_[at].value != value) at = (at + 1) & (slots_.size() - 1);
  return at;
}

int64_t ValueCounts::Table::Add(std::string_view value, uint64_t hash, int64_t by, size_t* size) {
  if ((used_ + 1) * 4 > slots_.size() * 3) Grow();
  const size_t at = Find(value, hash);
  Slot& slot = slots_[at];
  if (slot.count == 0) {
    slot.value.assign(value);
    long_bytes_ += LongBytes(value);
    ++used_;
    ++*size;
  }
  slot.count += by;
  if (slot.count != 0) return slot.count;
  long_bytes_ -= LongBytes(value);
  --used_;
  --*size;
  Free(at);
  return 0;
}

void ValueCounts::Table::Grow() {
  std::vector<Slot> old(slots_.empty() ? kFirstSlots : slots_.size() * 2);
  old.swap(slots_);
  for (Slot& slot : old) {
    if (slot.count == 0) continue;
    Slot& to = slots_[Find(slot.value, HyperLogLog::Hash(slot.value.data(), slot.value.size()))];
    to = std::move(slot);
  }
}

void ValueCounts::Table::Free(size_t at) {
  const size_t mask = slots_.size() - 1;
  for (size_t next = (at + 1) & mask; slots_[next].count != 0; next = (next + 1) & mask) {
    const std::string& value = slots_[next].value;
    const size_t home = Home(HyperLogLog::Hash(value.data(), value.size()));
    // It may stand at `at` only if that is not before its home.
    if (((next - home) & mask) < ((next - at) & mask)) continue;
    slots_[at] = std::move(slots_[next]);
    at = next;
  }
  slots_[at] = Slot();
}

void ValueCounts::Spread() {
  std::vector<Table> few(kTables);
  few.swap(tables_);
  size_t size = 0;
  few[0].ForEach([&](std::string_view value, int64_t count) {
    const uint64_t hash = HyperLogLog::Hash(value.data(), value.size());
    TableOf(hash)->Add(value, hash, count, &size);
  });
}

}  // namespace caudal
