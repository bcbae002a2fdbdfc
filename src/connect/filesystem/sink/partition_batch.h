// PartitionBatch: buffered rows that become files, one a partition, each made whole and durable before the
// next is begun, so that one file is open at a time.
//
// One thread at a time: the task's while it makes room, an I/O thread's in Prepare. What fails is tried again
// at the next call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "connect/filesystem/sink/file_sink.h"
#include "connect/filesystem/sink/output_file.h"
#include "connect/filesystem/sink/partition_buffer.h"

namespace caudal {

// A whole file under its hidden name.
struct FinishedFile {
  std::string path;
  std::string folder;  // of the partition, relative
  int64_t number = 0;
  int64_t rows = 0;
  int64_t bytes = 0;
};

class PartitionBatch {
 public:
  // The files get numbers from `first_number` on, as many as there are partitions. `plan` outlives the batch.
  PartitionBatch(const FileSinkPlan* plan, int task, int64_t first_number, PartitionBuffer::Rows rows)
      : plan_(plan), task_(task), first_number_(first_number), rows_(std::move(rows)) {}

  bool done() const { return finished_.size() == rows_.partitions.size(); }
  // Makes the file of the next partition. REQUIRES: not done.
  Status WriteOne();
  const std::vector<FinishedFile>& finished() const { return finished_; }
  int64_t buffered_bytes() const { return done() ? 0 : rows_.bytes; }

 private:
  const FileSinkPlan* plan_;
  int task_;
  int64_t first_number_;
  PartitionBuffer::Rows rows_;
  std::unique_ptr<OutputFile> file_;  // that could not be finished yet
  std::vector<FinishedFile> finished_;
};

}  // namespace caudal
