// KeyTable: a hash table from key bytes to rows of fixed width, in the order of the keys' hashes.
//
// One open-addressing table a key group, each growing and shrinking alone, so that no growth stops the world
// and a range of groups is a range of tables. Within a table entries stand sorted by hash: walking it gives
// the same order whatever happened before, which makes emission repeatable. Entries have stable addresses
// until they are erased. The owner initialises and destroys rows. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "data/row_key.h"
#include "state/block_arena.h"
#include "state/even_stride.h"

namespace caudal {

// An entry: this header, the row, the key's bytes.
struct KeyEntry {
  uint64_t hash;
  int64_t stamp;  // free for the owner: when the row was last written
  uint32_t key_size;
  uint32_t mark;  // free for the owner, as the next two; 0 in a new entry, as all
  uint32_t extra;
  uint16_t touches;
  uint16_t scratch;  // free for whoever works with the owner

  char* row() { return reinterpret_cast<char*>(this) + sizeof(KeyEntry); }
  const char* row() const { return reinterpret_cast<const char*>(this) + sizeof(KeyEntry); }
};

class KeyTable {
 public:
  explicit KeyTable(size_t row_width) : row_width_((row_width + 7) / 8 * 8) {}

  int64_t size() const { return size_; }
  int64_t bytes() const { return arena_.bytes() + slot_bytes_; }
  std::string_view key(const KeyEntry& entry) const { return {entry.row() + row_width_, entry.key_size}; }

  // Null if there is none.
  KeyEntry* Find(std::string_view key, uint64_t hash) const;
  // A new entry's row is uninitialised.
  KeyEntry* FindOrInsert(std::string_view key, uint64_t hash, bool* inserted);
  // The entry is gone afterwards; its row must have been destroyed.
  void Erase(KeyEntry* entry);

  // The entries of all keys, inserting. Fetches ahead. `inserted` is called with each new entry before the
  // next key is looked at.
  template <typename Inserted>
  void FindOrInsertAll(const RowKeys& keys, std::vector<KeyEntry*>* entries, Inserted inserted) {
    entries->resize(static_cast<size_t>(keys.size()));
    for (int32_t i = 0; i < keys.size(); ++i) {
      Prefetch(keys, i);
      bool fresh = false;
      KeyEntry* entry = FindOrInsert(keys.key(i), keys.hash(i), &fresh);
      if (fresh) inserted(entry);
      (*entries)[static_cast<size_t>(i)] = entry;
    }
  }

  // Walks entries in the order of group, hash, key, from `*cursor` (0: the beginning) until visit returns
  // false; true when the end was reached. The table must not change while a walk is under way.
  struct Cursor {
    int group = 0;
    size_t slot = 0;
  };
  template <typename Visit>
  bool Walk(Cursor* cursor, Visit visit) const {
    for (; cursor->group < kKeyGroups; ++cursor->group, cursor->slot = 0) {
      const std::vector<Slot>& slots = groups_[static_cast<size_t>(cursor->group)].slots;
      for (; cursor->slot < slots.size(); ++cursor->slot) {
        if (slots[cursor->slot].entry != nullptr && !visit(slots[cursor->slot].entry)) return false;
      }
    }
    return true;
  }
  // The entries of one key group, in the same order. Whoever walks group by group may insert in between, and
  // sees the entries that were there before once each.
  template <typename Visit>
  void WalkGroup(int group, Visit visit) const {
    for (const Slot& slot : groups_[static_cast<size_t>(group)].slots) {
      if (slot.entry != nullptr) visit(slot.entry);
    }
  }
  // As Walk, but within a group in an order that is even over the hashes: what snapshots are written in, for
  // the reason that EvenStride tells.
  template <typename Visit>
  bool WalkEvenly(Cursor* cursor, Visit visit) const {
    for (; cursor->group < kKeyGroups; ++cursor->group, cursor->slot = 0) {
      const std::vector<Slot>& slots = groups_[static_cast<size_t>(cursor->group)].slots;
      if (slots.empty()) continue;
      const size_t stride = EvenStride(slots.size());
      for (; cursor->slot < slots.size(); ++cursor->slot) {
        KeyEntry* entry = slots[cursor->slot * stride % slots.size()].entry;
        if (entry != nullptr && !visit(entry)) return false;
      }
    }
    return true;
  }
  template <typename Visit>
  void ForEach(Visit visit) const {
    Cursor cursor;
    Walk(&cursor, [&](KeyEntry* entry) {
      visit(entry);
      return true;
    });
  }
  // Whether a stands before b in a walk.
  bool Before(const KeyEntry* a, const KeyEntry* b) const {
    return a->hash != b->hash ? a->hash < b->hash : key(*a) < key(*b);
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    KeyEntry* entry = nullptr;
  };
  struct Group {
    std::vector<Slot> slots;  // 2^bits and a little room at the end, so that nothing wraps around
    int64_t size = 0;
    int bits = 0;
  };

  static constexpr int32_t kAhead = 12;

  // The bits below those of the key group.
  static size_t Home(const Group& group, uint64_t hash) {
    return static_cast<size_t>(hash << 7 >> 1 >> (63 - group.bits));
  }
  void Prefetch(const RowKeys& keys, int32_t i) const;
  // The slot of the key or the one where it belongs; `found` says which. REQUIRES: the group has slots.
  size_t Position(const Group& group, std::string_view key, uint64_t hash, bool* found) const;
  void Resize(Group* group, int bits);

  size_t row_width_;
  int64_t size_ = 0;
  int64_t slot_bytes_ = 0;
  BlockArena arena_;
  std::array<Group, kKeyGroups> groups_;
};

}  // namespace caudal
