// RedisLayout: what a row looks like in the server: its key, and a hash, a string or a JSON text.
//
// Read from a table's options, kept in the header of each segment, so that a commit needs no table. Plain
// data; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "connect/redis/redis_key.h"
#include "data/schema.h"

namespace caudal {

enum class RedisFormat : uint8_t { kHash, kString, kJson };

struct RedisColumn {
  // What its cells mean: more than their five forms tell.
  enum class Kind : uint8_t { kBoolean, kInteger, kFloat, kDouble, kDecimal, kText, kTimestamp, kBytes };
  std::string name;
  Kind kind = Kind::kText;
};

struct RedisLayout {
  std::vector<RedisColumn> columns;
  std::vector<int> key;  // positions in `columns`
  std::string key_text;  // 'caudal.key'
  RedisFormat format = RedisFormat::kHash;
  int64_t ttl_millis = 0;  // 0: keys stay

  // User error: a type that has no place, a template that is none, a format that the columns do not fit.
  static Result<RedisLayout> Of(const Schema& columns, std::vector<int> key, std::string key_text,
                                std::string_view format, int64_t ttl_millis);
  // As the segment's header; Parse gives a Data error for what is none.
  std::string ToJson() const;
  static Result<RedisLayout> Parse(std::string_view json);

  std::vector<std::string> key_names() const;
  Result<RedisKeyTemplate> key_template() const { return RedisKeyTemplate::Parse(key_text, key_names()); }
};

}  // namespace caudal
