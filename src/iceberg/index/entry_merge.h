// EntryMerge: entries of several sources, each ascending by key, as one ascending sequence in which it shows
// which of a key's entries counts: that of the newest source.
//
// One thread. In memory is what each source holds of itself, and one entry of each.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "iceberg/index/key_hash.h"

namespace caudal::iceberg {

// Entries in ascending order of their keys, each key once.
class EntrySource {
 public:
  virtual ~EntrySource() = default;
  // Null at the end; valid until the next call.
  virtual Result<const IndexEntry*> Next() = 0;
};

class EntryMerge {
 public:
  struct Merged {
    IndexEntry entry;
    size_t source = 0;
    bool hidden = false;  // a newer source, which comes next, has the key too
  };

  // The newest last; they outlive it.
  explicit EntryMerge(std::vector<EntrySource*> sources) : sources_(std::move(sources)) {}
  // Of one key the oldest first. Null at the end; valid until the next call.
  Result<const Merged*> Next();

 private:
  struct Front {
    IndexEntry entry;
    size_t source = 0;
  };
  // For a heap with the lowest in front, of one key the oldest.
  static bool Behind(const Front& a, const Front& b);
  Status Take(size_t source);

  std::vector<EntrySource*> sources_;
  std::vector<Front> fronts_;
  bool begun_ = false;
  Merged merged_;
};

}  // namespace caudal::iceberg
