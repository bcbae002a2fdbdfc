// RedisPipeline: one attempt to apply an epoch: its rows in batches, each a call of the commit's script.
//
// The keys of a batch are of one slot, outside of clusters all of them. Several batches are on their way to
// each server at once; each answer is looked at, and a batch whose slot has moved is sent where it is. One
// thread; thrown away after an error, together with its connections.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "api/connector.h"
#include "connect/redis/redis_ledger.h"
#include "connect/redis/redis_row.h"
#include "connect/redis/server/redis_nodes.h"
#include "data/message.h"

namespace caudal {

class RedisPipeline {
 public:
  struct Attempt {
    RedisLedger ledger;
    Epoch epoch;       // generation 0: without a ledger
    Epoch least;       // the head cannot be older
    std::string name;  // no other attempt's
  };

  // `nodes` and `reached`, the epoch that each slot is known to have, empty outside of clusters, outlive it.
  RedisPipeline(RedisNodes* nodes, std::vector<Epoch>* reached, Attempt attempt)
      : nodes_(nodes), reached_(reached), attempt_(std::move(attempt)) {}

  // Applies the records of one segment, but for what is left for the last batches.
  Status Apply(SegmentRecords* records, RedisRowWriter* rows);
  // The last batches; the epoch is complete.
  Status Finish();
  // The server's ledger `key` is at `at` and was at `was`.
  static Status LostEpochs(const std::string& key, Epoch at, Epoch was);

 private:
  struct Slot {
    RedisBatch batch;
    int64_t batches = 0;
    bool done = false;  // the server has all of it
  };
  struct Sent {
    int slot = 0;
    std::string ledger;    // its key
    RedisCommand keys;     // to name one that fails
    RedisCommand command;  // of clusters: it may have to be sent again
    bool last = false;
  };
  using Lane = std::deque<Sent>;  // on their way to one server

  Status SendBatch(int slot, bool last);
  Status SendAll(bool last);
  Status TakeAnswer(RedisConnection* node);
  Status Settle(Sent moved);
  Status Take(const RedisAnswer& answer, const Sent& sent);
  Status Drain();
  Status Complete();
  Result<bool> Advance(const std::string& ledger, std::string_view marks);
  RedisCommand CallOf(const std::string& ledger, const RedisBatch& batch, int64_t number, bool last,
                      Epoch least) const;
  Status Failed(const RedisAnswer& answer, const Sent& sent) const;

  RedisNodes* nodes_;
  std::vector<Epoch>* reached_;
  Attempt attempt_;
  std::map<int, Slot> slots_;
  std::map<RedisConnection*, Lane> lanes_;
  size_t waiting_bytes_ = 0;  // of all slots' batches
  bool superseded_ = false;   // the server has a newer epoch, or this one, from somebody else
};

}  // namespace caudal
