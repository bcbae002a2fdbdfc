// LookupCache: the answers of a table outside, by key, for as long as the table's options let them stand.
//
// Of one Lookup and task, in memory alone: a restart begins with none. The key not used for the longest goes
// first when there are too many. One thread.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/lookup_options.h"

namespace caudal {

// What the table has for one key: rows of the wanted columns as bytes, or why they cannot be read.
struct FoundRows {
  std::vector<std::string> rows;
  std::string unreadable;
};

class LookupCache {
 public:
  explicit LookupCache(LookupOptions options) : options_(options) {}

  // Null: not known, or no more. Lives until the next call.
  const FoundRows* Get(std::string_view key, int64_t now_millis);
  void Put(std::string_view key, const FoundRows& found, int64_t now_millis);
  int64_t bytes() const { return bytes_; }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    FoundRows found;
    int64_t written_millis = 0;
    int64_t used_millis = 0;
  };
  using Entries = std::list<Entry>;

  bool IsOver(const Entry& entry, int64_t now_millis) const;
  void Erase(Entries::iterator entry);
  static int64_t BytesOf(const Entry& entry);

  LookupOptions options_;
  Entries entries_;  // the last used first
  std::unordered_map<std::string_view, Entries::iterator> by_key_;
  int64_t bytes_ = 0;
};

}  // namespace caudal
