#include "connect/filesystem/sink/partition_batch.h"

#include <pthread.h>

namespace caudal {

PartitionBatch::~PartitionBatch() {
  unwanted_ = true;
  if (thread_.joinable()) thread_.join();
}

void PartitionBatch::Start() {
  state_ = State::kWriting;
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "writer");
    state_ = WriteAll().ok() ? State::kDone : State::kFailed;
  });
}

Status PartitionBatch::Finish() {
  if (thread_.joinable()) thread_.join();
  RETURN_IF_ERROR(WriteAll());
  state_ = State::kDone;
  return Status();
}

Status PartitionBatch::WriteAll() {
  while (finished_.size() < rows_.partitions.size() && !unwanted_) RETURN_IF_ERROR(WriteOne());
  rows_.chunks.clear();
  return Status();
}

Status PartitionBatch::WriteOne() {
  const PartitionBuffer::Partition& partition = rows_.partitions[finished_.size()];
  const int64_t number = first_number_ + static_cast<int64_t>(finished_.size());
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file,
                     OutputFile::Make(plan_->format, plan_->WritePath(partition.folder, task_, number)));
    RETURN_IF_ERROR(rows_.ForEach(
        partition, [&](const auto& columns, RowSet some) { return file->Append(columns, some); }));
    file_ = std::move(file);
  }
  ASSIGN_OR_RETURN(const int64_t rows, file_->Finish());
  finished_.push_back({file_->path(), partition.folder, number, rows, file_->size(), file_->ticket()});
  file_ = nullptr;
  return Status();
}

}  // namespace caudal
