// RedisLookup: the rows that a table of connector 'redis' has for given keys.
//
// All keys of a request go out one behind the other, in a cluster to the servers that have them, then their
// answers are read. A hash is asked for the wanted columns alone. Blocks up to the table's time limits; one
// thread at a time. Connections are opened when they are first needed and again after an error.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/lookup.h"
#include "connect/redis/redis_key.h"
#include "connect/redis/redis_target.h"
#include "connect/redis/server/redis_nodes.h"
#include "data/column_builder.h"
#include "format/json_decoder.h"

namespace caudal {

class RedisLookup : public LookupReader {
 public:
  // Needs no server. REQUIRES: the request's keys are the table's primary key.
  static Result<std::unique_ptr<LookupReader>> Make(const Table& table, const LookupRequest& request);

  Result<LookupRows> Find(const Chunk& keys) override;
  Status CheckTarget() override;

 private:
  struct Found;
  RedisLookup(RedisTarget target, RedisKeyTemplate key)
      : target_(std::move(target)), template_(std::move(key)) {}

  Status Connect();
  std::vector<std::string> KeysOf(const Chunk& keys) const;
  Result<LookupRows> Ask(const Chunk& keys);
  Result<std::vector<RedisAnswer>> Call(const std::vector<RedisCommand>& commands,
                                        const std::vector<std::string>& keys);
  Status AskHashes(const std::vector<std::string>& keys, Found* found);
  Status AskAnew(const std::vector<std::string>& keys, const std::vector<int32_t>& unsure, Found* found);
  Status AskTexts(const std::vector<std::string>& keys, Found* found);
  Status DecodeTexts(const std::vector<RedisAnswer>& answers, Found* found);

  RedisTarget target_;
  RedisKeyTemplate template_;
  std::vector<size_t> key_order_;   // of the template's columns, among the given ones
  std::vector<Type> types_;         // of the wanted columns
  std::vector<std::string> names_;  // the same
  std::vector<int> given_;          // by wanted column: which given one it is; -1 = it is in the value
  std::unique_ptr<JsonDecoder> json_;
  std::unique_ptr<RedisNodes> nodes_;  // null: none, or they have failed
};

}  // namespace caudal
