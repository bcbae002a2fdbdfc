// KeyedRows: a row a key: accumulators of plain aggregates, lists of rows, what was emitted last.
//
// Rows keep their address until they are erased. Whoever changes a row says so with Touch, which is what
// makes it part of the next snapshot. A snapshot is the changed rows, each whole. Walks go in the order of
// the keys' hashes. One thread, as StateTable says.
#pragma once

#include <string>
#include <vector>

#include "data/row_key.h"
#include "state/key_table.h"
#include "state/row_codec.h"
#include "state/state_table.h"

namespace caudal {

class KeyedRows : public StateTable {
 public:
  // `codec` outlives the table. `ttl` in ms of processing time: a row that is not touched for so long is
  // gone; 0 = never.
  KeyedRows(std::string name, std::string key_types, const RowCodec* codec, int64_t ttl = 0);
  ~KeyedRows() override;

  // The entries of the keys; new ones have an initialised row and are not yet touched.
  void FindOrInsert(const RowKeys& keys, std::vector<KeyEntry*>* entries);
  KeyEntry* FindOrInsert(std::string_view key, uint64_t hash);
  void Touch(KeyEntry* entry);
  // Until it is touched again it does not expire.
  void Hold(KeyEntry* entry);
  void Erase(KeyEntry* entry);
  std::string_view key(const KeyEntry& entry) const { return table_.key(entry); }

  using Cursor = KeyTable::Cursor;
  template <typename Visit>
  bool Walk(Cursor* cursor, Visit visit) const {
    return table_.Walk(cursor, visit);
  }

  std::string_view name() const override { return name_; }
  std::string Fingerprint() const override;
  std::string NextSegment(SnapshotKind kind) override;
  Status Restore(const std::vector<std::string>& segments, KeyGroupRange groups) override;
  // Looks at a share of the key groups a call, hence to be called with every watermark.
  void Expire(const Watermark& watermark) override;
  int64_t bytes() const override;
  int64_t rows() const override { return table_.size(); }

 private:
  // Into a snapshot: the row is unchanged from here on.
  void PutRow(KeyEntry* entry, std::string* out);
  bool Expired(const KeyEntry& entry) const;
  Status RestoreSegment(std::string_view segment, KeyGroupRange groups);
  void Measure(KeyEntry* entry);

  std::string name_;
  std::string key_types_;
  const RowCodec* codec_;
  int64_t ttl_;
  int64_t now_ = Watermark::kNone;  // processing time of the last watermark
  KeyTable table_;
  int64_t extra_bytes_ = 0;
  bool tracking_ = false;           // as in KeyGenerations
  std::vector<KeyEntry*> changed_;  // entry->mark is the place + 1; null where erased since
  std::string erased_;              // records of keys erased
  std::string scratch_;
  Cursor expiry_;
  Cursor snapshot_;             // full: what is not yet in a segment
  size_t snapshot_change_ = 0;  // delta: the same, of changed_
};

}  // namespace caudal
