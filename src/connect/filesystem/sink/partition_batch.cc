#include "connect/filesystem/sink/partition_batch.h"

namespace caudal {

Status PartitionBatch::WriteOne() {
  const PartitionBuffer::Partition& partition = rows_.partitions[finished_.size()];
  const int64_t number = first_number_ + static_cast<int64_t>(finished_.size());
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file,
                     OutputFile::Make(plan_->format, plan_->HiddenPath(partition.folder, task_, number)));
    RETURN_IF_ERROR(rows_.WriteTo(partition, file.get()));
    file_ = std::move(file);
  }
  ASSIGN_OR_RETURN(const int64_t rows, file_->Finish());
  finished_.push_back({file_->path(), partition.folder, number, rows, file_->size()});
  file_ = nullptr;
  if (done()) rows_.chunks.clear();
  return Status();
}

}  // namespace caudal
