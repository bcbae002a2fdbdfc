#include "connect/filesystem/sink/file_sink_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "connect/filesystem/sink/file_committable.h"

namespace caudal {
namespace {

// Values that a step of encoding takes, about. After each chunk as many are encoded as it brought, and a step
// more: a row group is in its file before the next one is full, and no call does more than its share.
constexpr int64_t kStepValues = 16 * 1024;

// Chunks in a row without a row for it: an open file that another partition may take the place of.
constexpr uint64_t kIdleWrites = 16;
// What a waiting partition has to have for that.
constexpr int64_t kLargePartition = 1 << 20;

struct SealedFile {
  std::unique_ptr<OutputFile> file;
  std::string folder;
  int64_t number = 0;
};

class FileSealedEpoch : public SealedEpoch {
 public:
  FileSealedEpoch(const FileSinkPlan* plan, int task, Epoch epoch, std::vector<SealedFile> files,
                  std::vector<std::unique_ptr<PartitionBatch>> batches)
      : plan_(plan), task_(task), epoch_(epoch), files_(std::move(files)), batches_(std::move(batches)) {}

  Result<Committable> Prepare() override {
    Committable committable;
    std::vector<CommittedFile> names;
    const auto add = [&](const FinishedFile& file) {
      names.push_back({file.path, plan_->FinalPath(file.folder, epoch_, task_, file.number), file.rows,
                       file.bytes, file.ticket});
      committable.rows_added += file.rows;
      committable.bytes += file.bytes;
    };
    for (SealedFile& sealed : files_) {
      ASSIGN_OR_RETURN(const int64_t rows, sealed.file->Finish());
      add({sealed.file->path(), sealed.folder, sealed.number, rows, sealed.file->size(),
           sealed.file->ticket()});
    }
    for (const std::unique_ptr<PartitionBatch>& batch : batches_) {
      RETURN_IF_ERROR(batch->Finish());
      for (const FinishedFile& file : batch->finished()) add(file);
    }
    committable.payload = FilesToJson(names);
    return committable;
  }

 private:
  const FileSinkPlan* plan_;
  int task_;
  Epoch epoch_;
  std::vector<SealedFile> files_;
  std::vector<std::unique_ptr<PartitionBatch>> batches_;
};

}  // namespace

std::string FileSinkPlan::WritePath(const std::string& folder, int task, int64_t number) const {
  if (pending != nullptr) return FinalPath(folder, {generation, 0}, task, number);
  return fmt::format("{}/{}{}{}-{}-{}.inprogress", root, folder, hidden_prefix(), generation, task, number);
}

std::string FileSinkPlan::FinalPath(const std::string& folder, Epoch epoch, int task, int64_t number) const {
  const std::string_view extension = format.options.format == "parquet" ? "parquet" : "json";
  // An upload has its name from the start, before its epoch has a number.
  const std::string of = pending != nullptr ? fmt::format("{}_", epoch.generation)
                                            : fmt::format("{}-{}-", epoch.generation, epoch.number);
  return fmt::format("{}/{}{}{}{}-{}.{}", root, folder, final_prefix(), of, task, number, extension);
}

FileSinkWriter::FileSinkWriter(const FileSinkPlan* plan, int task)
    : plan_(plan),
      task_(task),
      router_(plan->partition_columns, plan->partition_names, plan->format.options.default_partition) {}

Result<FileSinkWriter::OpenFile*> FileSinkWriter::FileFor(const std::string& folder) {
  const auto found = open_.find(folder);
  if (found != open_.end()) return &found->second;
  // A partition whose rows wait goes on waiting, so that they are one file.
  const bool place = open_.size() < static_cast<size_t>(plan_->format.options.max_open_files);
  return place && buffer_.bytes_of(folder) == 0 ? Open(folder) : Result<OpenFile*>(nullptr);
}

Result<FileSinkWriter::OpenFile*> FileSinkWriter::Open(const std::string& folder) {
  OpenFile opened;
  opened.folder = folder;
  opened.number = next_number_++;
  opened.opened_nanos = plan_->env->SteadyNanos();
  ASSIGN_OR_RETURN(opened.file,
                   OutputFile::Make(plan_->format, plan_->WritePath(folder, task_, opened.number)));
  return &open_.emplace(folder, std::move(opened)).first->second;
}

Status FileSinkWriter::Retire(const std::string& folder) {
  const auto found = open_.find(folder);
  RETURN_IF_ERROR(found->second.file->EndRows());
  retired_.push_back(std::move(found->second));
  open_.erase(found);
  return Status();
}

Status FileSinkWriter::EncodeSome(OpenFile* written, int64_t rows) {
  const int64_t values = rows * static_cast<int64_t>(plan_->content_columns.size());
  for (int64_t step = 0; step <= values / kStepValues; ++step) {
    ASSIGN_OR_RETURN(bool more, written->file->Step());
    if (more) continue;
    if (encoded_ == retired_.size()) return Status();
    ASSIGN_OR_RETURN(more, retired_[encoded_].file->Step());
    if (!more) ++encoded_;
  }
  return Status();
}

Status FileSinkWriter::Append(OpenFile* open, const std::vector<ColumnPtr>& content,
                              const PartitionShare& share) {
  open->used = clock_;
  RETURN_IF_ERROR(open->file->Append(content, share.row_set()));
  RETURN_IF_ERROR(EncodeSome(open, share.row_set().count));
  const bool small = open->file->estimated_bytes() < plan_->format.options.rolling_bytes;
  if (small && open->opened_nanos >= too_old_nanos_) return Status();
  return Retire(share.folder);
}

// Empty if the partition's folder can have its name.
std::string FileSinkWriter::WhyNoFolder(const std::string& folder) const {
  constexpr size_t kLongestName = 255;
  constexpr size_t kLongestPath = 4095 - 128;  // the file has a name, too
  if (plan_->root.size() + folder.size() > kLongestPath) {
    return fmt::format("the path of partition folder '{}…' has {} bytes, more than {}", folder.substr(0, 64),
                       plan_->root.size() + folder.size(), kLongestPath);
  }
  if (folder.size() <= kLongestName) return "";
  for (size_t begin = 0; begin < folder.size();) {
    const size_t end = folder.find('/', begin);
    if (end - begin > kLongestName) {
      return fmt::format("the name of partition folder '{}…' has {} bytes, more than {}",
                         folder.substr(begin, 64), end - begin, kLongestName);
    }
    begin = end + 1;
  }
  return "";
}

Status FileSinkWriter::Write(const Chunk& chunk, SinkRejects& rejects) {
  std::vector<ColumnPtr> content;
  for (const int column : plan_->content_columns) content.push_back(chunk.column(column));
  ++clock_;
  too_old_nanos_ = plan_->env->SteadyNanos() - plan_->format.options.rolling_millis * 1'000'000;
  std::vector<const PartitionShare*> waiting;
  for (const PartitionShare& share : router_.Split(chunk)) {
    if (std::string why = WhyNoFolder(share.folder); !why.empty()) {
      rejects.Reject(chunk, share.row_set(), std::move(why));
      continue;
    }
    ASSIGN_OR_RETURN(OpenFile * open, FileFor(share.folder));
    if (open == nullptr) {
      waiting.push_back(&share);
    } else {
      RETURN_IF_ERROR(Append(open, content, share));
    }
  }
  if (!waiting.empty()) RETURN_IF_ERROR(Buffer(content, waiting));
  MakeRoom();
  return Status();
}

Status FileSinkWriter::Buffer(const std::vector<ColumnPtr>& content,
                              const std::vector<const PartitionShare*>& shares) {
  buffer_.Add(content, shares);
  for (const PartitionShare* share : shares) {
    if (buffer_.bytes_of(share->folder) >= kLargePartition) RETURN_IF_ERROR(GivePlace(share->folder));
  }
  return Status();
}

Status FileSinkWriter::GivePlace(const std::string& folder) {
  if (open_.size() >= static_cast<size_t>(plan_->format.options.max_open_files)) {
    const auto least = std::min_element(open_.begin(), open_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    });
    if (clock_ - least->second.used < kIdleWrites) return Status();
    RETURN_IF_ERROR(Retire(std::string(least->first)));
  }
  ASSIGN_OR_RETURN(OpenFile * open, Open(folder));
  open->used = clock_;
  const PartitionBuffer::Rows rows = buffer_.Take(folder);
  return rows.partitions.empty() ? Status()
                                 : rows.ForEach(rows.partitions[0], [&](const auto& columns, RowSet some) {
                                     return open->file->Append(columns, some);
                                   });
}

bool FileSinkWriter::full() const {
  return buffer_.bytes() >= plan_->format.options.buffer_bytes && !batches_.empty() &&
         batches_.back()->state() == PartitionBatch::State::kWriting;
}

void FileSinkWriter::MakeRoom() {
  if (buffer_.bytes() < plan_->format.options.buffer_bytes) return;
  if (!batches_.empty() && batches_.back()->state() != PartitionBatch::State::kDone) return;
  PartitionBuffer::Rows largest = buffer_.TakeLargest();
  const int64_t first_number = next_number_;
  next_number_ += static_cast<int64_t>(largest.partitions.size());
  batches_.push_back(std::make_unique<PartitionBatch>(plan_, task_, first_number, std::move(largest)));
  batches_.back()->Start();
}

Result<std::unique_ptr<SealedEpoch>> FileSinkWriter::Seal(Epoch epoch) {
  std::vector<OpenFile> files = std::exchange(retired_, {});
  encoded_ = 0;
  for (auto& [folder, open] : open_) files.push_back(std::move(open));
  open_.clear();
  std::sort(files.begin(), files.end(),
            [](const OpenFile& a, const OpenFile& b) { return a.number < b.number; });
  std::vector<SealedFile> sealed;
  for (OpenFile& open : files) sealed.push_back({std::move(open.file), std::move(open.folder), open.number});
  PartitionBuffer::Rows rest = buffer_.TakeAll();
  const int64_t first_number = next_number_;
  next_number_ += static_cast<int64_t>(rest.partitions.size());
  batches_.push_back(std::make_unique<PartitionBatch>(plan_, task_, first_number, std::move(rest)));
  return std::unique_ptr<SealedEpoch>(
      new FileSealedEpoch(plan_, task_, epoch, std::move(sealed), std::exchange(batches_, {})));
}

int64_t FileSinkWriter::buffered_bytes() const {
  int64_t bytes = buffer_.bytes();
  for (const std::unique_ptr<PartitionBatch>& batch : batches_) bytes += batch->buffered_bytes();
  for (const auto& [folder, open] : open_) bytes += open.file->buffered_bytes();
  for (const OpenFile& open : retired_) bytes += open.file->buffered_bytes();
  return bytes;
}

}  // namespace caudal
