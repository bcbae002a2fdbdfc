#include "state/key_table.h"

#include <algorithm>

namespace caudal {
namespace {

constexpr int kFewestBits = 2;
constexpr size_t kRoom = 16;  // slots behind the last home
constexpr uint64_t kFullQuarters = 3;

size_t EntrySize(size_t row_width, size_t key_size) { return sizeof(KeyEntry) + row_width + key_size; }

}  // namespace

size_t KeyTable::Position(const Group& group, std::string_view key, uint64_t hash, bool* found) const {
  size_t at = Home(group, hash);
  const std::vector<Slot>& slots = group.slots;
  *found = false;
  while (at < slots.size() && slots[at].entry != nullptr && slots[at].hash < hash) ++at;
  for (; at < slots.size() && slots[at].entry != nullptr && slots[at].hash == hash; ++at) {
    const int order = this->key(*slots[at].entry).compare(key);
    if (order == 0) *found = true;
    if (order >= 0) break;
  }
  return at;
}

KeyEntry* KeyTable::Find(std::string_view key, uint64_t hash) const {
  const Group& group = groups_[static_cast<size_t>(RowKeys::KeyGroup(hash))];
  if (group.size == 0) return nullptr;
  bool found;
  const size_t at = Position(group, key, hash, &found);
  return found ? group.slots[at].entry : nullptr;
}

KeyEntry* KeyTable::FindOrInsert(std::string_view key, uint64_t hash, bool* inserted) {
  Group& group = groups_[static_cast<size_t>(RowKeys::KeyGroup(hash))];
  *inserted = false;
  if (group.slots.empty()) Resize(&group, kFewestBits);
  bool found;
  size_t at = Position(group, key, hash, &found);
  if (found) return group.slots[at].entry;

  if (static_cast<uint64_t>(group.size) * 4 >= (uint64_t{1} << group.bits) * kFullQuarters) {
    Resize(&group, group.bits + 1);
    at = Position(group, key, hash, &found);
  }
  auto is_free = [](const Slot& slot) { return slot.entry == nullptr; };
  auto free_slot =
      std::find_if(group.slots.begin() + static_cast<std::ptrdiff_t>(at), group.slots.end(), is_free);
  if (free_slot == group.slots.end()) {
    group.slots.resize(group.slots.size() + kRoom);
    slot_bytes_ += static_cast<int64_t>(kRoom * sizeof(Slot));
    free_slot = group.slots.end() - kRoom;
  }
  auto target = group.slots.begin() + static_cast<std::ptrdiff_t>(at);
  std::move_backward(target, free_slot, free_slot + 1);

  KeyEntry* entry = reinterpret_cast<KeyEntry*>(arena_.Allocate(EntrySize(row_width_, key.size())));
  *entry = {hash, 0, static_cast<uint32_t>(key.size()), 0, 0, 0, 0};
  if (!key.empty()) std::memcpy(entry->row() + row_width_, key.data(), key.size());
  *target = {hash, entry};
  ++group.size;
  ++size_;
  *inserted = true;
  return entry;
}

void KeyTable::Erase(KeyEntry* entry) {
  Group& group = groups_[static_cast<size_t>(RowKeys::KeyGroup(entry->hash))];
  bool found;
  size_t at = Position(group, key(*entry), entry->hash, &found);
  // Those behind move up, up to the first that stands at home.
  for (; at + 1 < group.slots.size(); ++at) {
    const Slot& next = group.slots[at + 1];
    if (next.entry == nullptr || Home(group, next.hash) == at + 1) break;
    group.slots[at] = next;
  }
  group.slots[at] = {};
  arena_.Free(reinterpret_cast<char*>(entry), EntrySize(row_width_, entry->key_size));
  --group.size;
  --size_;
  if (group.bits > kFewestBits && static_cast<uint64_t>(group.size) * 8 < uint64_t{1} << group.bits) {
    Resize(&group, group.bits - 1);
  }
}

void KeyTable::Resize(Group* group, int bits) {
  std::vector<Slot> old = std::move(group->slots);
  group->bits = bits;
  group->slots.assign((size_t{1} << bits) + kRoom, Slot());
  size_t next = 0;  // old slots are in order, hence new ones are filled in order
  for (const Slot& slot : old) {
    if (slot.entry == nullptr) continue;
    next = std::max(next, Home(*group, slot.hash));
    if (next == group->slots.size()) group->slots.resize(next + kRoom);
    group->slots[next++] = slot;
  }
  slot_bytes_ += static_cast<int64_t>(group->slots.size() * sizeof(Slot)) -
                 static_cast<int64_t>(old.size() * sizeof(Slot));
}

void KeyTable::Prefetch(const RowKeys& keys, int32_t i) const {
  // Two steps: the slot of a key further on, then the entry of one nearer, whose slot is there by now.
  if (i + 2 * kAhead < keys.size()) {
    const Group& group = groups_[static_cast<size_t>(keys.key_group(i + 2 * kAhead))];
    if (!group.slots.empty()) __builtin_prefetch(&group.slots[Home(group, keys.hash(i + 2 * kAhead))]);
  }
  if (i + kAhead < keys.size()) {
    const uint64_t hash = keys.hash(i + kAhead);
    const Group& group = groups_[static_cast<size_t>(RowKeys::KeyGroup(hash))];
    if (group.slots.empty()) return;
    const Slot* slot = &group.slots[Home(group, hash)];
    if (slot->entry != nullptr && slot->hash < hash && slot + 1 < group.slots.data() + group.slots.size())
      ++slot;
    __builtin_prefetch(slot->entry);
  }
}

}  // namespace caudal
