// RedisWriter: a SegmentWriter whose committables also tell which epoch the server had when they were
// prepared.
//
// Belongs to the task's thread; what it seals, to the I/O thread that prepares it.
#pragma once

#include <memory>
#include <string_view>

#include "api/sink.h"
#include "connect/redis/acknowledged_epoch.h"

namespace caudal {

class RedisWriter : public SinkWriter {
 public:
  // `acknowledged` outlives it.
  RedisWriter(std::unique_ptr<SinkWriter> segments, const AcknowledgedEpoch* acknowledged)
      : segments_(std::move(segments)), acknowledged_(acknowledged) {}

  Status Write(const Chunk& chunk, SinkRejects& rejects) override { return segments_->Write(chunk, rejects); }
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) override;
  int64_t buffered_bytes() const override { return segments_->buffered_bytes(); }

  // What a committable's payload tells; {0, 0}: nothing was known.
  static Epoch AcknowledgedIn(std::string_view payload);

 private:
  std::unique_ptr<SinkWriter> segments_;
  const AcknowledgedEpoch* acknowledged_;
};

}  // namespace caudal
