// PartitionBatch: buffered rows that become files, one a partition, each made whole and durable before the
// next is begun, so that one file is open at a time.
//
// The task's thread makes it and may ask how far it is; a thread of its own writes; an I/O thread waits for
// that in Prepare, and writes what it left. What fails is tried again at the next call.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/partition/partition_buffer.h"
#include "connect/filesystem/sink/file_sink.h"
#include "connect/filesystem/sink/output_file.h"

namespace caudal {

// A whole file under its hidden name, or under none.
struct FinishedFile {
  std::string path;
  std::string folder;  // of the partition, relative
  int64_t number = 0;
  int64_t rows = 0;
  int64_t bytes = 0;
  std::string ticket;  // of an upload
};

class PartitionBatch {
 public:
  // The files get numbers from `first_number` on, as many as there are partitions. `plan` outlives the batch.
  PartitionBatch(const FileSinkPlan* plan, int task, int64_t first_number, PartitionBuffer::Rows rows)
      : plan_(plan), task_(task), first_number_(first_number), rows_(std::move(rows)) {}

  // Waits for the file that is being written, if any.
  ~PartitionBatch();

  // Begins to write. Once.
  void Start();
  enum class State : uint8_t { kWaiting, kWriting, kFailed, kDone };
  State state() const { return state_; }
  int64_t buffered_bytes() const { return state_ == State::kDone ? 0 : rows_.bytes; }

  // Blocks until every file is made.
  Status Finish();
  // REQUIRES: Finish returned OK.
  const std::vector<FinishedFile>& finished() const { return finished_; }

 private:
  Status WriteAll();
  // Makes the file of the next partition.
  Status WriteOne();

  const FileSinkPlan* plan_;
  int task_;
  int64_t first_number_;
  PartitionBuffer::Rows rows_;
  std::unique_ptr<OutputFile> file_;  // that could not be finished yet
  std::vector<FinishedFile> finished_;
  std::atomic<State> state_ = State::kWaiting;
  std::atomic<bool> unwanted_ = false;
  std::thread thread_;  // has what stands above, until it is joined
};

}  // namespace caudal
