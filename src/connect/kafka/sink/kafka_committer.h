// KafkaCommitter: sends an epoch's segments, in one transaction with a record of the ledger.
//
// Exactly once: the producer of the sink's transactional id fences the one before it and ends its
// transaction; then the ledger tells whether the epoch is there. Whatever goes wrong, the producer is given
// up and the next call begins there. At least once: idempotent, acknowledged by all replicas, without
// transaction and ledger; that an epoch was sent is noted beside its segments, so that only one whose end was
// not noted is sent again. One thread at a time; calls block.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "api/connector.h"
#include "api/sink.h"
#include "connect/kafka/kafka_producer.h"
#include "connect/kafka/sink/kafka_segment.h"
#include "connect/kafka/sink/kafka_sink_facts.h"
#include "connect/kafka/sink/kafka_sink_options.h"
#include "connect/kafka/sink/sent_epoch.h"

namespace caudal {

class KafkaCommitter : public SinkCommitter {
 public:
  // `facts` outlive it.
  KafkaCommitter(KafkaSinkOptions options, ConnectorContext context, KafkaSinkFacts* facts);

  Result<Epoch> LastCommitted() override;
  std::string ledger(std::span<const Committable> committables) const override;
  CommitResult Commit(Epoch epoch, std::span<const Committable> committables) override;
  Status RemoveLeftovers() override { return RemoveAllSegments(context_.files, context_.segment_dir, form_); }

 private:
  bool transactional() const { return options_.exactly_once; }
  bool has_ledger() const { return transactional() && !context_.ephemeral; }
  std::string transactional_id() const;
  Status Connect();
  // The producer and the topic's partitions; its batches are as small as the topic wants them.
  Result<std::unique_ptr<KafkaProducer>> MakeProducer();
  Status ReadLedger(KafkaProducer* producer);
  Status LostLedger(const Epoch& known) const;
  Result<bool> SentBefore(Epoch epoch, std::span<const Committable> committables);
  Status Send(Epoch epoch, std::span<const Committable> committables, bool* lost);
  Status SendRows(std::span<const Committable> committables, bool* lost);
  Status NoteInLedger(Epoch epoch);

  KafkaSinkOptions options_;
  ConnectorContext context_;
  KafkaSinkFacts* facts_;
  SegmentForm form_;  // of the cluster that the producer has found
  SentEpoch sent_;
  std::unique_ptr<KafkaProducer> producer_;  // null: none, or it has failed
  std::string cluster_;                      // the producer's
  int32_t partitions_ = 0;
  Epoch last_;  // as the ledger had it when the producer began, and since
};

}  // namespace caudal
