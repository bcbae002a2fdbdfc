// SegmentWriter: folds an epoch's rows by key in memory and seals them; Prepare writes them into a segment of
// the checkpoint.
//
// Belongs to the task's thread; what it seals, to the I/O thread that prepares it.
#pragma once

#include <memory>

#include "api/connector.h"
#include "api/segment/segment_file.h"
#include "api/sink.h"

namespace caudal {

class SegmentWriter : public SinkWriter {
 public:
  SegmentWriter(SegmentForm form, ConnectorContext context, int task)
      : form_(std::move(form)), context_(std::move(context)), task_(task), rows_(form_.key) {}

  Status Write(const Chunk& chunk, SinkRejects& rejects) override;
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) override;
  int64_t buffered_bytes() const override { return rows_.bytes(); }

 private:
  SegmentForm form_;
  ConnectorContext context_;
  int task_;
  EpochRows rows_;
};

}  // namespace caudal
