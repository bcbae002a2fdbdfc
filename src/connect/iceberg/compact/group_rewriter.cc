#include "connect/iceberg/compact/group_rewriter.h"

#include <fmt/format.h>

#include <memory>

#include "connect/iceberg/file_description.h"
#include "connect/iceberg/scan/data_file_reader.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/partition_path.h"

namespace caudal {
namespace {

class Rewriter {
 public:
  Rewriter(const RewriteSource& source, const iceberg::CompactionGroup& group)
      : source_(source), group_(group), first_(source.scan->files[group.files[0]].data) {}

  Result<iceberg::FileReplacement> Run(std::string* unreadable) {
    Status status = RewriteAll();
    if (status.ok()) return std::move(made_);
    *unreadable = unreadable_;
    file_.reset();
    for (const std::string& path : paths_) (void)source_.files->Remove(path).ok();
    return status;
  }

 private:
  Status RewriteAll() {
    made_.spec_id = first_.spec_id;
    made_.sequence_number = source_.snapshot->sequence_number;
    made_.snapshot_id = source_.snapshot->snapshot_id;
    ASSIGN_OR_RETURN(folder_, Folder());
    for (const size_t number : group_.files) RETURN_IF_ERROR(Rewrite(source_.scan->files[number]));
    return writer_ == nullptr ? Status() : End();
  }

  // Beside the files that it replaces, if those are in the table's own folder.
  Result<std::string> Folder() const {
    const std::string data = iceberg::DataFolder(*source_.table) + "/";
    const std::string& path = first_.file.file_path;
    if (path.starts_with(data)) return path.substr(0, path.find_last_of('/') + 1);
    const iceberg::PartitionSpec& spec = *source_.table->FindSpec(first_.spec_id);
    ASSIGN_OR_RETURN(
        const auto types,
        iceberg::PartitionTypes(*source_.table->FindSchema(source_.table->current_schema_id), spec));
    if (first_.file.partition.empty()) return data;
    return data + iceberg::PartitionPath(spec, types, first_.file.partition) + "/";
  }

  Status Rewrite(const iceberg::ScanFile& file) {
    const iceberg::DataFile& data = file.data.file;
    auto opened =
        DataFileReader::Open(source_.files, *source_.table, *source_.scan, file, source_.columns->read, 0, 0);
    if (!opened.ok()) return Unreadable(data, opened.status());
    const auto reader = std::move(opened).value();
    const double bytes_a_row = static_cast<double>(data.file_size_in_bytes) /
                               static_cast<double>(std::max<int64_t>(1, data.record_count));
    for (;;) {
      const Result<FileRows> next = reader->Next();
      if (!next.ok()) return Unreadable(data, next.status());
      const FileRows& rows = *next;
      if (rows.chunk.physical_rows() == 0) break;
      RETURN_IF_ERROR(Write(rows.chunk));
      const double read = bytes_a_row * rows.chunk.physical_rows();
      if (source_.pace) RETURN_IF_ERROR(source_.pace(static_cast<int64_t>(read)));
    }
    made_.from.push_back({data.file_path, data.record_count, reader->deleted().ToVector()});
    return Status();
  }

  Status Unreadable(const iceberg::DataFile& file, const Status& status) {
    if (status.retry() != Retry::kBackoff) unreadable_ = file.file_path;
    return status;
  }

  Status Write(const Chunk& chunk) {
    if (chunk.rows().count == 0) return Status();
    if (writer_ == nullptr) RETURN_IF_ERROR(Begin());
    RETURN_IF_ERROR(writer_->Append(chunk.columns(), chunk.rows()));
    for (bool more = true; more;) {
      ASSIGN_OR_RETURN(more, writer_->Step());
    }
    return writer_->estimated_file_bytes() >= group_.file_bytes ? End() : Status();
  }

  Status Begin() {
    location_ = fmt::format("{}{}{:016x}.parquet", folder_, source_.prefix, source_.env->Random());
    ASSIGN_OR_RETURN(const std::string path, iceberg::PathOf(location_));
    RETURN_IF_ERROR(source_.files->MakeDirectories(path.substr(0, path.find_last_of('/'))));
    paths_.push_back(path);
    ASSIGN_OR_RETURN(file_, source_.files->Create(path));
    ASSIGN_OR_RETURN(writer_,
                     ParquetWriter::Make(source_.columns->content, source_.columns->parquet, file_.get()));
    return Status();
  }

  Status End() {
    ASSIGN_OR_RETURN(const ParquetFooter footer, writer_->Finish());
    RETURN_IF_ERROR(file_->Close());
    iceberg::DataFile data = DescribeColumns(source_.columns->ids, source_.columns->types, footer);
    data.file_path = location_;
    data.partition = first_.file.partition;
    data.file_size_in_bytes = file_->size();
    made_.to.push_back(std::move(data));
    writer_.reset();
    file_.reset();
    return Status();
  }

  const RewriteSource& source_;
  const iceberg::CompactionGroup& group_;
  const iceberg::LiveFile& first_;
  std::string folder_;    // a location
  std::string location_;  // of the file that is written
  std::unique_ptr<WritableFile> file_;
  std::unique_ptr<ParquetWriter> writer_;
  std::vector<std::string> paths_;
  std::string unreadable_;
  iceberg::FileReplacement made_;
};

}  // namespace

Result<iceberg::FileReplacement> RewriteGroup(const RewriteSource& source,
                                              const iceberg::CompactionGroup& group,
                                              std::string* unreadable) {
  return Rewriter(source, group).Run(unreadable);
}

}  // namespace caudal
