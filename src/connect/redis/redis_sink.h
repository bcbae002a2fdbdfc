// RedisSink: rows into keys of a Redis server, exactly once: upserts and deletes by primary key.
//
// The epoch's folded rows become a segment file of the checkpoint (Prepare); Commit applies them by a script
// that checks the sink's ledger, and does nothing when that is past the epoch. Each key changes at once;
// those of an epoch one after another.
#pragma once

#include "api/connector.h"
#include "api/sink.h"
#include "connect/redis/acknowledged_epoch.h"
#include "connect/redis/redis_target.h"

namespace caudal {

class RedisSink : public Sink {
 public:
  RedisSink(RedisTarget target, ConnectorContext context)
      : target_(std::move(target)), context_(std::move(context)) {}

  ChangelogKinds accepts() const override { return ChangelogKinds::Upsert(); }
  std::string_view guarantee() const override { return "exactly once"; }
  Status CheckTarget() const override;
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int task) override;
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override;

 private:
  RedisTarget target_;
  ConnectorContext context_;
  AcknowledgedEpoch acknowledged_;
};

}  // namespace caudal
