// RedisPipeline: one attempt to apply an epoch: its rows in batches, each a call of the commit's script.
//
// Several batches are on their way at once; each answer is looked at. One thread; thrown away after an error,
// together with its connection.
#pragma once

#include <deque>
#include <string>

#include "api/connector.h"
#include "connect/redis/redis_connection.h"
#include "connect/redis/redis_row.h"
#include "data/message.h"

namespace caudal {

class RedisPipeline {
 public:
  struct Attempt {
    std::string ledger;  // the key
    Epoch epoch;         // generation 0: without a ledger
    Epoch least;         // the ledger cannot be older
    std::string name;    // no other attempt's
  };

  // All outlive it. `script`: the loaded script's name.
  RedisPipeline(RedisConnection* connection, const std::string* script, Attempt attempt)
      : connection_(connection), script_(script), attempt_(std::move(attempt)) {}

  // Applies the records of one segment, but for what is left for the last batch.
  Status Apply(SegmentRecords* records, RedisRowWriter* rows);
  // The last batch; the epoch is complete.
  Status Finish();
  // The server's ledger is at `at` and was at `was`.
  static Status LostEpochs(const std::string& ledger, Epoch at, Epoch was);
  // The server has this epoch, or a newer one, from somebody else.
  bool superseded() const { return superseded_; }

 private:
  Status SendBatch(bool last);
  Status TakeAnswer();
  Status Failed(const RedisAnswer& answer, const RedisCommand& keys) const;

  RedisConnection* connection_;
  const std::string* script_;
  Attempt attempt_;
  RedisBatch batch_;
  std::deque<RedisCommand> on_their_way_;  // the keys of each, to name one that fails
  int64_t batches_ = 0;
  bool superseded_ = false;
};

}  // namespace caudal
