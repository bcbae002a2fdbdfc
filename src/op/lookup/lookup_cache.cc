#include "op/lookup/lookup_cache.h"

namespace caudal {

int64_t LookupCache::BytesOf(const Entry& entry) {
  constexpr int64_t kOfEntry = 160;  // list and hash nodes
  int64_t bytes = kOfEntry + static_cast<int64_t>(entry.key.size());
  for (const std::string& row : entry.found.rows) bytes += 32 + static_cast<int64_t>(row.size());
  return bytes;
}

bool LookupCache::IsOver(const Entry& entry, int64_t now_millis) const {
  const int64_t written = options_.expire_after_write_millis, used = options_.expire_after_access_millis;
  return (written > 0 && now_millis - entry.written_millis >= written) ||
         (used > 0 && now_millis - entry.used_millis >= used);
}

void LookupCache::Erase(Entries::iterator entry) {
  bytes_ -= BytesOf(*entry);
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

const FoundRows* LookupCache::Get(std::string_view key, int64_t now_millis) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  const Entries::iterator entry = found->second;
  if (IsOver(*entry, now_millis)) {
    Erase(entry);
    return nullptr;
  }
  entry->used_millis = now_millis;
  entries_.splice(entries_.begin(), entries_, entry);
  return &entry->found;
}

void LookupCache::Put(std::string_view key, const FoundRows& found, int64_t now_millis) {
  if (const auto old = by_key_.find(key); old != by_key_.end()) Erase(old->second);
  // What nobody asks for any more stands at the end.
  while (!entries_.empty() && IsOver(entries_.back(), now_millis)) Erase(std::prev(entries_.end()));
  if (found.rows.empty() && (!options_.caches_missing || !found.unreadable.empty())) return;
  entries_.push_front({std::string(key), found, now_millis, now_millis});
  by_key_[entries_.front().key] = entries_.begin();
  bytes_ += BytesOf(entries_.front());
  if (options_.max_rows > 0 && static_cast<int64_t>(entries_.size()) > options_.max_rows) {
    Erase(std::prev(entries_.end()));
  }
}

}  // namespace caudal
