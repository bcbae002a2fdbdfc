// FileSinkWriter: the rows of one task into the files of their partitions; FileSealedEpoch: the same files,
// made whole and durable on an I/O thread.
//
// The first partitions of an epoch get an open file each. Rows of all others wait in memory, a partition
// beside the other, until the epoch ends: however the rows of many partitions alternate, each is one file an
// epoch. When what waits exceeds 'caudal.sink.buffer-size', its largest partitions become files meanwhile, on
// a thread of their own; when as much waits again before they have, the writer is full.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/partition/partition_buffer.h"
#include "api/sink.h"
#include "connect/filesystem/sink/file_sink.h"
#include "connect/filesystem/sink/partition_batch.h"
#include "connect/filesystem/sink/partition_router.h"

namespace caudal {

class FileSinkWriter : public SinkWriter {
 public:
  // `plan` outlives the writer.
  FileSinkWriter(const FileSinkPlan* plan, int task);

  bool full() const override;
  Status Write(const Chunk& chunk, SinkRejects& rejects) override;
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) override;
  int64_t buffered_bytes() const override;

 private:
  struct OpenFile {
    std::unique_ptr<OutputFile> file;
    std::string folder;  // of the partition, relative
    int64_t number = 0;
    uint64_t used = 0;  // when it was last written to
    int64_t opened_nanos = 0;
  };

  std::string WhyNoFolder(const std::string& folder) const;
  // Null: it has none, and no other may be opened.
  Result<OpenFile*> FileFor(const std::string& folder);
  Result<OpenFile*> Open(const std::string& folder);
  Status Append(OpenFile* open, const std::vector<ColumnPtr>& content, const PartitionShare& share);
  // Keeps the rows for later.
  Status Buffer(const std::vector<ColumnPtr>& content, const std::vector<const PartitionShare*>& shares);
  // A waiting partition that grew large takes the place of a file that no row comes for any more.
  Status GivePlace(const std::string& folder);
  // Has waiting rows turned into files when too many wait.
  void MakeRoom();
  // No row is added to it any more; what is left to encode is done in steps.
  Status Retire(const std::string& folder);
  Status EncodeSome(OpenFile* written, int64_t rows);

  const FileSinkPlan* plan_;
  int task_;
  PartitionRouter router_;
  std::unordered_map<std::string, OpenFile> open_;  // by folder
  std::vector<OpenFile> retired_;                   // of this epoch
  PartitionBuffer buffer_;                          // of partitions that have no open file
  // Of this epoch, each done but the last, which may have failed: Prepare tries again.
  std::vector<std::unique_ptr<PartitionBatch>> batches_;
  size_t encoded_ = 0;  // retired files that have nothing left to encode
  int64_t next_number_ = 0;
  uint64_t clock_ = 0;         // counts writes
  int64_t too_old_nanos_ = 0;  // files opened before are ended
};

}  // namespace caudal
