// FileSinkWriter: the rows of one task into the files of their partitions; FileSealedEpoch: the same files,
// made whole and durable on an I/O thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/sink.h"
#include "connect/filesystem/sink/file_sink.h"
#include "connect/filesystem/sink/partition_router.h"

namespace caudal {

class FileSinkWriter : public SinkWriter {
 public:
  // `plan` outlives the writer.
  FileSinkWriter(const FileSinkPlan* plan, int task);

  Status Write(const Chunk& chunk, SinkRejects& rejects) override;
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) override;
  int64_t buffered_bytes() const override;

 private:
  struct OpenFile {
    std::unique_ptr<OutputFile> file;
    std::string folder;  // of the partition, relative
    int64_t number = 0;
    uint64_t used = 0;  // when it was last written to
  };

  Result<OpenFile*> FileFor(const std::string& folder);
  // No row is added to it any more; what is left to encode is done in steps.
  Status Retire(const std::string& folder);
  Status RetireLeastUsed();
  Status EncodeSome(OpenFile* written);

  const FileSinkPlan* plan_;
  int task_;
  PartitionRouter router_;
  std::unordered_map<std::string, OpenFile> open_;  // by folder
  std::vector<OpenFile> retired_;                   // of this epoch
  size_t encoded_ = 0;                              // retired files that have nothing left to encode
  int64_t next_number_ = 0;
  uint64_t clock_ = 0;  // counts writes
};

}  // namespace caudal
