// KeyGenerations: which keys were seen first, and when, for deduplication: a set in generations of time.
//
// A key is known while some clock can still be below its first time + `retain`; keys of a quarter of `retain`
// share a generation, which goes as a whole once the watermark is past that. Fingerprint 1: keys and times
// alone, so `retain` may change. One thread, as StateTable says.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/row_key.h"
#include "state/key_segment.h"
#include "state/state_table.h"

namespace caudal {

class KeyGenerations : public StateTable {
 public:
  static constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

  // `key_types`: text of the key columns' types, for the fingerprint. `retain` in ms, or kForever.
  KeyGenerations(std::string name, std::string key_types, int64_t retain);

  // For each row, in order: is its key new? A key is not new iff the row's clock is below the time under
  // which the key was remembered + retain; a new one is remembered under the row's time. All in ms.
  void Remember(const RowKeys& keys, std::span<const int64_t> times, std::span<const int64_t> clocks,
                std::vector<uint8_t>* is_new);

  std::string_view name() const override { return name_; }
  std::string Fingerprint() const override { return "key-generations 1 (" + key_types_ + ")"; }
  std::string NextSegment(SnapshotKind kind) override;
  Status Restore(const std::vector<std::string>& segments, KeyGroupRange groups) override;
  // Drops one generation at most a call, hence to be called with every watermark.
  void Expire(const Watermark& watermark) override;
  int64_t bytes() const override;
  int64_t rows() const override { return rows_; }
  size_t generation_count() const { return generations_.size(); }

 private:
  struct Generation {
    int64_t number;  // time / width_ of the keys that opened it
    int64_t base;    // of its segments' times
    int64_t latest;  // the latest time in it
    std::vector<std::unique_ptr<KeySegment>> segments;
    // Segments of the next snapshot, with the keys that came since the last one; they go with the generation,
    // so that keys that came and went between two snapshots are in none.
    std::vector<std::string> changes = {};
  };

  // `hits`: bit s is set if segments_[s] may hold the key, the last bit if any from there on may.
  bool Known(uint64_t hits, std::string_view key, uint64_t hash, int64_t clock) const;
  bool KnownTo(const KeySegment& segment, std::string_view key, uint64_t hash, int64_t clock) const;
  void LookAhead(const RowKeys& keys, int32_t first, int32_t end, uint64_t* hits) const;
  KeySegment* AddSegment(Generation* generation);
  void Insert(std::string_view key, uint64_t hash, int64_t time);
  Generation* GenerationFor(int64_t time);
  static void NoteChange(std::string_view key, int64_t time, Generation* generation);
  std::string NextChanges();
  Status RestoreSegment(std::string_view segment, KeyGroupRange groups);

  std::string name_;
  std::string key_types_;
  int64_t retain_;
  int64_t width_;
  std::vector<Generation> generations_;
  std::vector<KeySegment*> segments_;  // of all generations, the one made last at the end
  size_t last_generation_ = 0;         // index of the one that took the last key
  KeySegment* last_inserted_ = nullptr;
  int64_t rows_ = 0;
  int64_t last_size_ = 0;  // of the generation dropped last: what to expect of the next
  size_t snapshot_segment_ = 0, snapshot_bucket_ = 0;  // full: what is not yet told
  bool tracking_ = false;  // a snapshot or restore has been seen: from then on changes are noted
};

}  // namespace caudal
