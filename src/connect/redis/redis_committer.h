// RedisCommitter: makes an epoch's segments visible, guarded by a ledger in the server.
//
// The ledger, the hash caudal:ledger:<query>@<identity>:<sink>, says which epoch's rows the server has, and
// whether all of them. Each batch of rows is applied by a script that looks there first. A job that nothing
// goes on with keeps none. One thread; the connection is opened when it is first needed and again after an
// error.
#pragma once

#include <memory>
#include <span>

#include "api/connector.h"
#include "api/sink.h"
#include "connect/redis/acknowledged_epoch.h"
#include "connect/redis/redis_connection.h"
#include "connect/redis/redis_pipeline.h"
#include "connect/redis/redis_segment.h"

namespace caudal {

class RedisCommitter : public SinkCommitter {
 public:
  // `acknowledged` outlives it.
  RedisCommitter(RedisTarget target, ConnectorContext context, AcknowledgedEpoch* acknowledged);

  // The newest epoch of which the server has rows, be it all of them or not: going back behind it would be
  // seen.
  Result<Epoch> LastCommitted() override;
  CommitResult Commit(Epoch epoch, std::span<const Committable> committables) override;
  // Every segment of the sink: called when the manifest's epoch has been committed again.
  Status RemoveLeftovers() override;

 private:
  struct Ledger {
    Epoch epoch;
    bool complete = false;
  };

  Status Connect();
  Result<Ledger> ReadLedger();
  Status Apply(Epoch epoch, std::span<const Committable> committables, bool* lost);
  Status ApplySegment(const SegmentReference& reference, RedisPipeline* pipeline, bool* lost);
  // 'caudal.wait-replicas'; of an epoch whose rows have been written before, too.
  Status WaitForReplicas();
  Status ConfirmAgain();
  // Of rows that are neither in the server nor in the checkpoint any more.
  Status Gone(Status why, const Ledger& ledger, Epoch epoch) const;
  CommitResult Answer(Status status, bool lost) const;

  RedisTarget target_;
  SegmentForm form_;
  ConnectorContext context_;
  std::string ledger_;  // the key
  std::unique_ptr<RedisConnection> connection_;
  std::string script_;  // the loaded script's name in the server
  AcknowledgedEpoch* acknowledged_;
};

}  // namespace caudal
