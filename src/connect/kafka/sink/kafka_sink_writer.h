// KafkaSinkWriter: encodes the rows of one task and keeps them for the epoch's segment.
//
// Belongs to the task's thread.
#pragma once

#include <memory>

#include "api/segment/segment_writer.h"
#include "api/sink.h"
#include "base/env.h"
#include "connect/kafka/sink/kafka_envelope.h"
#include "connect/kafka/sink/kafka_sink_facts.h"

namespace caudal {

// How large key, value and headers of a record may be together for the topic to take it.
int64_t KafkaRecordLimit(const KafkaTopicLimits& limits);

class KafkaSinkWriter : public SinkWriter {
 public:
  // `facts` outlive it. `env`: null = the real one.
  KafkaSinkWriter(KafkaEnvelope envelope, int64_t max_record_bytes, const KafkaSinkFacts* facts, Env* env,
                  std::unique_ptr<SegmentWriter> segment)
      : envelope_(std::move(envelope)),
        max_record_bytes_(max_record_bytes),
        facts_(facts),
        env_(env == nullptr ? Env::Real() : env),
        segment_(std::move(segment)) {}

  // Rejects rows whose record the topic does not take.
  Status Write(const Chunk& chunk, SinkRejects& rejects) override;
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) override { return segment_->Seal(epoch); }
  int64_t buffered_bytes() const override { return segment_->buffered_bytes(); }

 private:
  // Takes rows out of `sealed` whose record the topic does not take: too large, too old, too far ahead.
  void RejectUnsendable(const Chunk& chunk, Chunk* sealed, SinkRejects& rejects) const;

  KafkaEnvelope envelope_;
  int64_t max_record_bytes_;
  const KafkaSinkFacts* facts_;
  Env* env_;
  std::unique_ptr<SegmentWriter> segment_;
};

}  // namespace caudal
