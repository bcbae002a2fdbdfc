// RedisNodes: the server, or the servers of a cluster, that a table stands for, and which of them has a key.
//
// Connects to each when it is first needed. Blocks up to the target's time limits, so it is for I/O threads
// alone. One thread; of no use after an error: another one asks anew who has what.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "connect/redis/redis_connection.h"
#include "connect/redis/redis_target.h"

namespace caudal {

class RedisNodes {
 public:
  // `script`, unless it is empty, is loaded into every server before anything else. `target` outlives it.
  static Result<std::unique_ptr<RedisNodes>> Open(const RedisTarget* target, std::string_view script);

  bool is_cluster() const { return target_->mode == RedisMode::kCluster; }
  // Keys of one slot are always on one server; outside of clusters all are of slot 0.
  int SlotOf(std::string_view key) const;
  // Each answer waits for the server's disk, which costs as much as hundreds of rows. Not asked of clusters.
  bool answers_when_durable() const { return answers_when_durable_; }
  // What the loaded script is called.
  const std::string& script() const { return script_name_; }

  // Sends it to the server that has `key`, wherever that has moved. An error is a Status.
  Result<RedisAnswer> Call(std::string_view key, const RedisCommand& command);
  // The same for a command on keys of that slot; an answer that is an error is a value.
  Result<RedisAnswer> Ask(int slot, const RedisCommand& command);

  // To send many commands and then read as many answers: the server that has the slot, as far as is known.
  // All answers are read before the next Call or Ask.
  Result<RedisConnection*> NodeOf(int slot);
  // The answer is none, but says that the keys are elsewhere or on their way: Ask once more.
  bool IsElsewhere(const RedisAnswer& answer) const;

  // A slot of each server, the smallest.
  std::vector<int> OneSlotOfEach() const;
  // Until so many replicas of each server have what was written through this object.
  Status WaitForReplicas(int replicas);

 private:
  struct Place {
    bool asking = false;  // only this once: the slot is on its way there
    SocketAddress address;
  };

  RedisNodes(const RedisTarget* target, std::string_view script) : target_(target), script_(script) {}
  Status OpenOne();
  Status FindNodes();
  Status ReadSlots(const RedisAnswer& answer, const SocketAddress& asked);
  Result<RedisConnection*> At(const SocketAddress& address);
  Status Prepare(RedisConnection* connection);
  Status AskHowDurable(RedisConnection* connection);
  Result<Place> PlaceIn(const std::string& redirection, const SocketAddress& asked) const;

  const RedisTarget* target_;
  std::string_view script_;
  std::string script_name_;
  bool answers_when_durable_ = false;
  std::vector<SocketAddress> owners_;  // by slot; without a port: nobody has it
  std::map<std::string, std::unique_ptr<RedisConnection>> connections_;  // by address
};

}  // namespace caudal
