// Feed: the rows that a test pushes into one table, split by split, kept for ever so that any restart reads
// them again. FeedRegistry: the feeds by table name.
//
// Owned by the test runner, which outlives every source that reads from it. All methods are thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/source.h"
#include "data/chunk.h"
#include "data/value.h"

namespace caudal {

struct FeedRow {
  RowKind kind = RowKind::kInsert;
  ValueList values;  // one a physical column, in order
  // Set: a record that does not parse, in place of `values`; its offset is the row's number.
  std::optional<RejectedRecord> malformed;
  int64_t arrival_millis = -1;  // -1: unknown
};

class Feed {
 public:
  void Push(int split, FeedRow row);
  // No further row will come, in any split.
  void End();

  // Up to `limit` rows of the split from number `from` on.
  std::vector<FeedRow> Read(int split, int64_t from, int32_t limit) const;
  int64_t size(int split) const;
  bool ended() const;

 private:
  mutable std::mutex mutex_;
  std::map<int, std::vector<FeedRow>> splits_;
  bool ended_ = false;
};

class FeedRegistry {
 public:
  // The feed of a table, made on first use; stays until the registry goes.
  Feed* Get(const std::string& table);
  // Every feed there is, or will be, ends.
  void EndAll();
  // Rows in one chunk at most; tests that want every chunk boundary set 1.
  void set_chunk_rows(int32_t rows);
  int32_t chunk_rows() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Feed>> feeds_;
  int32_t chunk_rows_ = Chunk::kMaxRows;
  bool ended_ = false;
};

}  // namespace caudal
