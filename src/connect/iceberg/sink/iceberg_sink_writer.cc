#include "connect/iceberg/sink/iceberg_sink_writer.h"

#include <fmt/format.h>

#include "connect/iceberg/iceberg_types.h"
#include "connect/iceberg/sink/iceberg_committable.h"
#include "iceberg/catalog/table_files.h"

namespace caudal {
namespace {

// Values that a step of encoding takes, about: after each chunk as many are encoded as it brought.
constexpr int64_t kStepValues = 16 * 1024;

// Rows of a partition that waits for its file.
struct WaitingFile {
  DataFilePlace place;
  std::unique_ptr<DataFileWriter> file;  // that could not be finished yet
};

class IcebergSealedEpoch : public SealedEpoch {
 public:
  IcebergSealedEpoch(const IcebergSinkPlan* plan, int task, Epoch epoch,
                     std::vector<std::unique_ptr<DataFileWriter>> files, PartitionBuffer::Rows rows,
                     std::vector<WaitingFile> waiting)
      : plan_(plan),
        task_(task),
        epoch_(epoch),
        files_(std::move(files)),
        rows_(std::move(rows)),
        waiting_(std::move(waiting)) {}

  Result<Committable> Prepare() override {
    while (finished_ < files_.size()) {
      RETURN_IF_ERROR(Add(files_[finished_].get()));
      files_[finished_++] = nullptr;
    }
    while (written_ < waiting_.size()) {
      WaitingFile& waiting = waiting_[written_];
      if (waiting.file == nullptr) {
        ASSIGN_OR_RETURN(auto file, DataFileWriter::Make(plan_, waiting.place));
        const auto append = [&](const auto& columns, RowSet some) { return file->Append(columns, some); };
        RETURN_IF_ERROR(rows_.ForEach(rows_.partitions[written_], append));
        waiting.file = std::move(file);
      }
      RETURN_IF_ERROR(Add(waiting.file.get()));
      waiting_[written_++].file = nullptr;
    }
    rows_.chunks.clear();
    const iceberg::TableFiles files(plan_->files, plan_->env);
    IcebergCommittable made;
    const std::string name = fmt::format("{}{}-{}-{}-{}", plan_->final_prefix(), epoch_.generation,
                                         epoch_.number, task_, files.NewUuid());
    ASSIGN_OR_RETURN(made.append,
                     iceberg::PrepareAppend(files, plan_->table, plan_->spec.spec_id, data_, name));
    for (const iceberg::DataFile& file : data_)
      made.files.push_back({file.file_path, file.file_size_in_bytes});
    return Committable{made.ToJson(), made.append.records, 0, made.append.bytes};
  }

 private:
  Status Add(DataFileWriter* file) {
    ASSIGN_OR_RETURN(iceberg::DataFile data, file->Finish(epoch_));
    data_.push_back(std::move(data));
    return Status();
  }

  const IcebergSinkPlan* plan_;
  int task_;
  Epoch epoch_;
  std::vector<std::unique_ptr<DataFileWriter>> files_;
  PartitionBuffer::Rows rows_;
  std::vector<WaitingFile> waiting_;  // one of each partition of rows_
  size_t finished_ = 0, written_ = 0;
  std::vector<iceberg::DataFile> data_;
};

}  // namespace

DataFilePlace IcebergSinkWriter::NewPlace(const std::string& key) {
  const RowPartitions::Partition& partition = partitions_.Find(key);
  return {partition.values, partition.folder, task_, next_number_++};
}

Result<DataFileWriter*> IcebergSinkWriter::FileFor(const std::string& key) {
  const auto found = open_.find(key);
  if (found != open_.end()) return found->second.get();
  // A partition whose rows wait goes on waiting, so that they are one file.
  if (open_.size() >= static_cast<size_t>(plan_->options.max_open_files) || buffer_.bytes_of(key) > 0)
    return nullptr;
  ASSIGN_OR_RETURN(auto file, DataFileWriter::Make(plan_, NewPlace(key)));
  return open_.emplace(key, std::move(file)).first->second.get();
}

Status IcebergSinkWriter::Append(const std::string& key, DataFileWriter* file,
                                 const std::vector<ColumnPtr>& content, RowSet rows) {
  RETURN_IF_ERROR(file->Append(content, rows));
  const int64_t values = int64_t{rows.count} * static_cast<int64_t>(content.size());
  for (int64_t step = 0; step <= values / kStepValues; ++step) {
    ASSIGN_OR_RETURN(const bool more, file->Step());
    if (!more) break;
  }
  if (file->estimated_bytes() < plan_->target_bytes) return Status();
  RETURN_IF_ERROR(file->EndRows());
  full_.push_back(std::move(open_.at(key)));
  open_.erase(key);
  return Status();
}

Status IcebergSinkWriter::Write(const Chunk& chunk, SinkRejects&) {
  std::vector<ColumnPtr> content;
  for (const ColumnPtr& column : chunk.columns()) content.push_back(FileColumn(column));
  std::vector<const PartitionShare*> waiting;
  for (const PartitionShare& share : partitions_.Split(chunk)) {
    ASSIGN_OR_RETURN(DataFileWriter * file, FileFor(share.folder));
    if (file == nullptr) {
      waiting.push_back(&share);
    } else {
      RETURN_IF_ERROR(Append(share.folder, file, content, share.row_set()));
    }
  }
  if (!waiting.empty()) buffer_.Add(content, waiting);
  return MakeRoom();
}

Status IcebergSinkWriter::MakeRoom() {
  if (buffer_.bytes() < plan_->options.buffer_bytes) return Status();
  const PartitionBuffer::Rows rows = buffer_.TakeLargest();
  for (const PartitionBuffer::Partition& partition : rows.partitions) {
    ASSIGN_OR_RETURN(auto file, DataFileWriter::Make(plan_, NewPlace(partition.folder)));
    const auto append = [&](const auto& columns, RowSet some) { return file->Append(columns, some); };
    RETURN_IF_ERROR(rows.ForEach(partition, append));
    RETURN_IF_ERROR(file->EndRows());
    for (bool more = true; more;) {
      ASSIGN_OR_RETURN(more, file->Step());
    }
    full_.push_back(std::move(file));
  }
  return Status();
}

Result<std::unique_ptr<SealedEpoch>> IcebergSinkWriter::Seal(Epoch epoch) {
  std::vector<std::unique_ptr<DataFileWriter>> files = std::exchange(full_, {});
  for (auto& [key, file] : open_) files.push_back(std::move(file));
  open_.clear();
  PartitionBuffer::Rows rows = buffer_.TakeAll();
  std::vector<WaitingFile> waiting;
  for (const PartitionBuffer::Partition& partition : rows.partitions) {
    waiting.push_back({NewPlace(partition.folder), nullptr});
  }
  partitions_.Forget();
  return std::unique_ptr<SealedEpoch>(
      new IcebergSealedEpoch(plan_, task_, epoch, std::move(files), std::move(rows), std::move(waiting)));
}

int64_t IcebergSinkWriter::buffered_bytes() const {
  int64_t bytes = buffer_.bytes();
  for (const auto& [key, file] : open_) bytes += file->buffered_bytes();
  for (const auto& file : full_) bytes += file->buffered_bytes();
  return bytes;
}

}  // namespace caudal
