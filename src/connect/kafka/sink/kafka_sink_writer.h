// KafkaSinkWriter: encodes the rows of one task and keeps them for the epoch's segment.
//
// Belongs to the task's thread.
#pragma once

#include <memory>

#include "api/segment/segment_writer.h"
#include "api/sink.h"
#include "connect/kafka/sink/kafka_envelope.h"

namespace caudal {

class KafkaSinkWriter : public SinkWriter {
 public:
  KafkaSinkWriter(KafkaEnvelope envelope, int64_t max_record_bytes, std::unique_ptr<SegmentWriter> segment)
      : envelope_(std::move(envelope)), max_record_bytes_(max_record_bytes), segment_(std::move(segment)) {}

  // Rejects rows whose record is larger than a broker takes.
  Status Write(const Chunk& chunk, SinkRejects& rejects) override;
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) override { return segment_->Seal(epoch); }
  int64_t buffered_bytes() const override { return segment_->buffered_bytes(); }

 private:
  // Takes rows out of `sealed` whose record no broker takes: too large, or too old.
  void RejectUnsendable(const Chunk& chunk, Chunk* sealed, SinkRejects& rejects) const;

  KafkaEnvelope envelope_;
  int64_t max_record_bytes_;
  std::unique_ptr<SegmentWriter> segment_;
};

}  // namespace caudal
