// KafkaCommitter: sends an epoch's segments, in one transaction with a record of the ledger.
//
// Exactly once: the producer of the sink's transactional id fences the one before it and ends its
// transaction; then the ledger tells whether the epoch is there. Whatever goes wrong, the producer is given
// up and the next call begins there. At least once: idempotent, acknowledged by all replicas, without
// transaction and ledger; a commit repeated is sent again. One thread at a time; calls block.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "api/connector.h"
#include "api/sink.h"
#include "connect/kafka/kafka_producer.h"
#include "connect/kafka/sink/kafka_segment.h"
#include "connect/kafka/sink/kafka_sink_options.h"

namespace caudal {

class KafkaCommitter : public SinkCommitter {
 public:
  // `compression_refused`: set once a broker has not taken the compression that was asked for; outlives it.
  KafkaCommitter(KafkaSinkOptions options, ConnectorContext context, std::atomic<bool>* compression_refused)
      : options_(std::move(options)),
        context_(std::move(context)),
        form_(KafkaSegmentForm(options_, 0)),
        compression_refused_(compression_refused) {}

  Result<Epoch> LastCommitted() override;
  CommitResult Commit(Epoch epoch, std::span<const Committable> committables) override;
  Status RemoveLeftovers() override { return RemoveAllSegments(context_.files, context_.segment_dir, form_); }

 private:
  bool transactional() const { return options_.exactly_once; }
  bool has_ledger() const { return transactional() && !context_.ephemeral; }
  Status Connect();
  Status Send(Epoch epoch, std::span<const Committable> committables, bool* lost);
  Status SendRows(std::span<const Committable> committables, bool* lost);

  KafkaSinkOptions options_;
  ConnectorContext context_;
  SegmentForm form_;
  std::atomic<bool>* compression_refused_;
  std::unique_ptr<KafkaProducer> producer_;  // null: none, or it has failed
  int32_t partitions_ = 0;
  Epoch last_;  // as the ledger had it when the producer began, and since
};

}  // namespace caudal
