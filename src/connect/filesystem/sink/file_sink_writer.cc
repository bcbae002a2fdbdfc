#include "connect/filesystem/sink/file_sink_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "connect/filesystem/sink/file_committable.h"

namespace caudal {
namespace {

// Steps of encoding after each chunk: a row group of 32 chunks has 4 steps a column, so this keeps up with 24
// columns; more columns take longer steps at the next row group's end.
constexpr int kStepsPerWrite = 3;

struct SealedFile {
  std::unique_ptr<OutputFile> file;
  std::string final_path;
};

class FileSealedEpoch : public SealedEpoch {
 public:
  explicit FileSealedEpoch(std::vector<SealedFile> files) : files_(std::move(files)) {}

  Result<Committable> Prepare() override {
    Committable committable;
    std::vector<CommittedFile> names;
    for (SealedFile& sealed : files_) {
      ASSIGN_OR_RETURN(const int64_t rows, sealed.file->Finish());
      const int64_t bytes = sealed.file->estimated_bytes();
      names.push_back({sealed.file->path(), sealed.final_path, rows, bytes});
      committable.rows_added += rows;
      committable.bytes += bytes;
    }
    committable.payload = FilesToJson(names);
    return committable;
  }

 private:
  std::vector<SealedFile> files_;
};

}  // namespace

FileSinkWriter::FileSinkWriter(const FileSinkPlan* plan, int task)
    : plan_(plan),
      task_(task),
      router_(plan->partition_columns, plan->partition_names, plan->format.options.default_partition) {}

Result<FileSinkWriter::OpenFile*> FileSinkWriter::FileFor(const std::string& folder) {
  const auto found = open_.find(folder);
  if (found != open_.end()) return &found->second;
  if (open_.size() >= static_cast<size_t>(plan_->format.options.max_open_files))
    RETURN_IF_ERROR(RetireLeastUsed());
  OpenFile opened;
  opened.folder = folder;
  opened.number = next_number_++;
  const std::string path = fmt::format("{}/{}{}{}-{}-{}.inprogress", plan_->root, folder,
                                       plan_->hidden_prefix(), plan_->generation, task_, opened.number);
  ASSIGN_OR_RETURN(opened.file, OutputFile::Make(plan_->format, path));
  return &open_.emplace(folder, std::move(opened)).first->second;
}

Status FileSinkWriter::Retire(const std::string& folder) {
  const auto found = open_.find(folder);
  RETURN_IF_ERROR(found->second.file->EndRows());
  retired_.push_back(std::move(found->second));
  open_.erase(found);
  return Status();
}

Status FileSinkWriter::RetireLeastUsed() {
  const auto least = std::min_element(
      open_.begin(), open_.end(), [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
  const std::string folder = least->first;
  return Retire(folder);
}

Status FileSinkWriter::EncodeSome(OpenFile* written) {
  for (int step = 0; step < kStepsPerWrite; ++step) {
    ASSIGN_OR_RETURN(bool more, written->file->Step());
    if (more) continue;
    if (encoded_ == retired_.size()) return Status();
    ASSIGN_OR_RETURN(more, retired_[encoded_].file->Step());
    if (!more) ++encoded_;
  }
  return Status();
}

Status FileSinkWriter::Write(const Chunk& chunk, SinkRejects&) {
  std::vector<ColumnPtr> content;
  for (const int column : plan_->content_columns) content.push_back(chunk.column(column));
  ++clock_;
  for (const PartitionRouter::Share& share : router_.Split(chunk)) {
    ASSIGN_OR_RETURN(OpenFile * open, FileFor(share.path));
    open->used = clock_;
    RETURN_IF_ERROR(open->file->Append(content, share.row_set()));
    RETURN_IF_ERROR(EncodeSome(open));
    if (open->file->estimated_bytes() >= plan_->format.options.rolling_bytes)
      RETURN_IF_ERROR(Retire(share.path));
  }
  return Status();
}

Result<std::unique_ptr<SealedEpoch>> FileSinkWriter::Seal(Epoch epoch) {
  std::vector<OpenFile> files = std::exchange(retired_, {});
  encoded_ = 0;
  for (auto& [folder, open] : open_) files.push_back(std::move(open));
  open_.clear();
  std::sort(files.begin(), files.end(),
            [](const OpenFile& a, const OpenFile& b) { return a.number < b.number; });
  const std::string_view extension = plan_->format.options.format == "parquet" ? "parquet" : "json";
  std::vector<SealedFile> sealed;
  for (OpenFile& open : files) {
    std::string final_path =
        fmt::format("{}/{}part-{}-{}-{}-{}-{}.{}", plan_->root, open.folder, plan_->query, epoch.generation,
                    epoch.number, task_, open.number, extension);
    sealed.push_back({std::move(open.file), std::move(final_path)});
  }
  return std::unique_ptr<SealedEpoch>(new FileSealedEpoch(std::move(sealed)));
}

int64_t FileSinkWriter::buffered_bytes() const {
  int64_t bytes = 0;
  for (const auto& [folder, open] : open_) bytes += open.file->buffered_bytes();
  for (const OpenFile& open : retired_) bytes += open.file->buffered_bytes();
  return bytes;
}

}  // namespace caudal
