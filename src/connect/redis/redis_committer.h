// RedisCommitter: makes an epoch's segments visible, guarded by a ledger in the server.
//
// The ledger, the hash caudal:ledger:<query>@<identity>:<sink>, says which epoch's rows the server has, and
// whether all of them; in a cluster each slot has one of its own besides (docs/design/sinks.md). Each batch
// of rows is applied by a script that looks there first. A job that nothing goes on with keeps none. One
// thread; connections are opened when they are first needed and again after an error.
#pragma once

#include <memory>
#include <span>

#include "api/connector.h"
#include "api/sink.h"
#include "connect/redis/acknowledged_epoch.h"
#include "connect/redis/redis_ledger.h"
#include "connect/redis/redis_pipeline.h"
#include "connect/redis/redis_segment.h"
#include "connect/redis/server/redis_nodes.h"

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
    std::vector<int> marks;  // of a cluster: slots in which the epoch's marks are
  };

  Status Connect();
  Result<Ledger> ReadLedger();
  // That no server of a cluster has gone back behind what it had.
  Status CheckMarks(const Ledger& ledger);
  Status Apply(Epoch epoch, std::span<const Committable> committables, bool* lost);
  Status ApplySegment(const SegmentReference& reference, RedisPipeline* pipeline, bool* lost);
  // 'caudal.wait-replicas', of an epoch whose rows have been written before.
  Status ConfirmAgain(const Ledger& ledger);
  // Of rows that are neither in the server nor in the checkpoint any more.
  Status Gone(Status why, const Ledger& ledger, Epoch epoch) const;
  CommitResult Answer(Status status, bool lost) const;

  RedisTarget target_;
  SegmentForm form_;
  ConnectorContext context_;
  RedisLedger ledger_;
  std::unique_ptr<RedisNodes> nodes_;
  std::vector<Epoch> reached_;  // of a cluster: the epoch that each slot is known to have
  AcknowledgedEpoch* acknowledged_;
};

}  // namespace caudal
