// RedisRowWriter: the records of a segment as what the script of a commit does to keys.
//
// One thread. What a row becomes is said by the layout alone: absolute values, so that doing it twice is
// doing it once.
#pragma once

#include <string>
#include <vector>

#include "api/segment/cell.h"
#include "api/segment/segment_records.h"
#include "base/status.h"
#include "connect/redis/redis_command.h"
#include "connect/redis/redis_layout.h"
#include "data/column_builder.h"

namespace caudal {

// Rows that go to the server in one call of the script: their keys, and what becomes of each.
struct RedisBatch {
  RedisCommand keys;
  RedisCommand actions;
  int64_t ttl_millis = 0;  // of the layout that they were written by
};

class RedisRowWriter {
 public:
  static Result<RedisRowWriter> Make(RedisLayout layout);

  // False when the cells are damaged. The record's bytes outlive what is done with it.
  bool Read(const SegmentRecord& record);
  // Of the record that was read.
  std::string_view key() const { return key_; }
  void AppendTo(RedisBatch* batch);

 private:
  RedisRowWriter(RedisLayout layout, RedisKeyTemplate key)
      : layout_(std::move(layout)), template_(std::move(key)) {}
  bool ReadCells(const SegmentRecord& record);
  void MakeKey(bool is_delete);
  void AppendHash(RedisBatch* batch);
  void AppendString(RedisBatch* batch);
  void AppendJson(RedisBatch* batch);

  RedisLayout layout_;
  RedisKeyTemplate template_;
  std::vector<Cell> cells_;  // of the record at hand
  bool is_delete_ = false;
  std::vector<std::string> key_values_;
  std::string key_, text_;
};

// A cell as CAST to STRING writes it; bytes as they are. REQUIRES: it is not NULL.
std::string RedisTextOf(const Cell& cell, RedisColumn::Kind kind);
// The other way: appends the value, read as CAST from STRING reads it; bytes as they are. False, and nothing
// is appended, when the text is no value of the builder's type.
bool AppendRedisText(std::string_view text, ColumnBuilder* builder);
// As format 'json' writes it.
void AppendRedisJson(const Cell& cell, RedisColumn::Kind kind, std::string* out);

}  // namespace caudal
