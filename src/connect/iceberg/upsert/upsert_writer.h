// UpsertWriter: the rows of one task of a table with a key, folded in memory; UpsertSealedEpoch: the same
// rows made data files, durable, with a manifest and the place of every key, on an I/O thread.
//
// What waits in memory becomes files when it exceeds 'caudal.sink.buffer-size', and at the end of the epoch.
#pragma once

#include <memory>

#include "api/sink.h"
#include "connect/iceberg/upsert/key_filter.h"
#include "connect/iceberg/upsert/upsert_files.h"

namespace caudal {

class UpsertWriter : public SinkWriter {
 public:
  // Both outlive the writer and what it seals.
  UpsertWriter(const IcebergSinkPlan* plan, TableKeys* keys, int task);

  bool full() const override { return filter_ != nullptr && keys_->busy(); }
  Status Write(const Chunk& chunk, SinkRejects& rejects) override;
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) override;
  int64_t buffered_bytes() const override;

 private:
  const IcebergSinkPlan* plan_;
  TableKeys* keys_;
  int task_;
  std::unique_ptr<KeyFilter> filter_;  // if keys that are there are left out
  UpsertRows rows_;
  std::unique_ptr<UpsertFiles> files_;  // of this epoch
};

}  // namespace caudal
