// Panes: a row for each key and slice of time: what windows that overlap share.
//
// A slice is a number; the owner decides what time it covers and when it goes. A pane may be kept apart for a
// row that came too late for some windows of its slice: it then counts only for windows whose end, a slice
// number too, is at or past its `from_end`. Panes keep their address until their slice is dropped; slices are
// dropped oldest first. A snapshot is the panes that were located since the last, each whole. One thread.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/row_key.h"
#include "state/key_table.h"
#include "state/pane_attachment.h"
#include "state/pane_rows.h"
#include "state/row_codec.h"
#include "state/state_table.h"

namespace caudal {

class Panes : public StateTable {
 public:
  static constexpr int64_t kAllEnds = PaneHeader::kAllEnds;

  // `slices`: in words, what a slice number means: part of the fingerprint. `codec` outlives the table.
  Panes(std::string name, std::string key_types, std::string slices, const RowCodec* codec);
  ~Panes() override;

  // The row of each (key, slice, from_end), made if need be; counts as changed.
  void Locate(const RowKeys& keys, std::span<const int64_t> slices, std::span<const int64_t> from_ends,
              std::vector<char*>* rows);

  PaneList panes(const KeyEntry& entry) const {
    const Run* run = reinterpret_cast<const Run*>(entry.row());
    return {&pane_rows_, run->panes, run->size};
  }
  // The same for one, without a from_end.
  char* LocateOne(std::string_view key, uint64_t hash, int64_t slice);
  const KeyEntry* Find(std::string_view key, uint64_t hash) const { return table_.Find(key, hash); }
  static void Prefetch(const KeyEntry& entry) {
    const Run* run = reinterpret_cast<const Run*>(entry.row());
    __builtin_prefetch(run->panes);
    __builtin_prefetch(run->attachment);
  }
  static PaneAttachment* attachment(const KeyEntry& entry) {
    return reinterpret_cast<const Run*>(entry.row())->attachment;
  }
  // REQUIRES: the key has none.
  static void Attach(KeyEntry* entry, std::unique_ptr<PaneAttachment> attachment) {
    reinterpret_cast<Run*>(entry->row())->attachment = attachment.release();
  }
  std::string_view key(const KeyEntry& entry) const { return table_.key(entry); }
  int64_t key_count() const { return table_.size(); }
  bool Before(const KeyEntry* a, const KeyEntry* b) const { return table_.Before(a, b); }
  template <typename Visit>
  void WalkGroup(int group, Visit visit) const {
    table_.WalkGroup(group, visit);
  }

  // From now on panes located since the last TakeTouched are remembered.
  void RememberTouched() { remember_touched_ = true; }
  struct Touched {
    uint64_t hash;  // of the entry: sorting looks at no entry's memory
    KeyEntry* entry;
    int64_t slice;
  };
  // In the order of a walk, then of slices; valid until DropBefore.
  std::vector<Touched> TakeTouched();
  // The first slice at or past `from` that has panes; false if there is none.
  bool NextSlice(int64_t from, int64_t* slice) const;
  int64_t slice_size(int64_t slice) const;
  // Of each of its panes, in no order.
  void AppendKeys(int64_t slice, std::vector<KeyEntry*>* entries) const;
  // Drops up to `limit` panes of slices below `slice`; true when none is left.
  bool DropBefore(int64_t slice, int64_t limit);

  std::string_view name() const override { return name_; }
  std::string Fingerprint() const override;
  std::string NextSegment(SnapshotKind kind) override;
  Status Restore(const std::vector<std::string>& segments, KeyGroupRange groups) override;
  void Expire(const Watermark& watermark) override {}  // by DropBefore: the owner knows the windows
  int64_t bytes() const override;
  int64_t rows() const override { return rows_; }

 private:
  struct Run {  // the row of a KeyEntry
    ListedPane* panes;
    uint32_t size;
    uint32_t capacity;
    PaneAttachment* attachment;
    ListedPane only;  // where `panes` points while one is enough
  };
  using Numbers = std::vector<uint32_t>;  // of rows
  struct Slice {
    uint32_t number;
    Numbers all;
    Numbers changed;  // since the last snapshot
    Numbers touched;  // since the last TakeTouched
  };

  // Measures what hangs from the row, for bytes().
  void Measure(char* row);
  static void InitRun(KeyEntry* entry);
  KeyEntry* EntryFor(std::string_view key, uint64_t hash);
  // The number of the pane's row, which is made if need be.
  uint32_t PaneFor(KeyEntry* entry, int64_t slice, int64_t from_end);
  uint32_t AddPane(KeyEntry* entry, uint32_t at, int64_t slice, int64_t from_end);
  void WidenRun(Run* run);
  void FreeList(const Run& run);
  void NoteChange(KeyEntry* entry, int64_t slice, uint32_t pane);
  Slice& SliceFor(int64_t slice);
  void PrefetchRemoval(const Numbers& panes) const;
  void RemovePane(uint32_t pane);
  void PrefetchPane(const Numbers& panes, size_t at) const;
  void PutPane(char* row, std::string* out);
  Status RestoreSegment(std::string_view segment, KeyGroupRange groups);
  Status RestorePane(int64_t slice, KeyGroupRange groups, std::string_view key, int64_t from_end,
                     std::string_view row);

  std::string name_;
  std::string key_types_;
  std::string slice_words_;
  const RowCodec* codec_;
  KeyTable table_;
  PaneRows pane_rows_;
  BlockArena lists_;
  std::map<int64_t, Slice> slices_;
  std::pair<const int64_t, Slice>* last_slice_ = nullptr;  // the one asked for last
  int64_t rows_ = 0, extra_bytes_ = 0;
  bool remember_touched_ = false;
  bool tracking_ = false;  // as in KeyGenerations
  std::vector<KeyEntry*> entries_;
  Numbers located_;
  std::string scratch_, group_;
  int64_t snapshot_slice_ = std::numeric_limits<int64_t>::min();  // what is not yet in a segment: from
                                                                  // there on
  size_t snapshot_pane_ = 0;                                      // and of that slice from here on
};

}  // namespace caudal
