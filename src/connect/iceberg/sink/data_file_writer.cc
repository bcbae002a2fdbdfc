#include "connect/iceberg/sink/data_file_writer.h"

#include <fmt/format.h>

#include "connect/iceberg/file_description.h"
#include "fs/store_file_system.h"
#include "iceberg/catalog/table_files.h"

namespace caudal {

Result<std::unique_ptr<DataFileWriter>> DataFileWriter::Make(const IcebergSinkPlan* plan,
                                                             DataFilePlace place) {
  std::unique_ptr<DataFileWriter> made(new DataFileWriter(plan, std::move(place)));
  ASSIGN_OR_RETURN(const std::string data, iceberg::PathOf(plan->data_folder()));
  made->folder_ = fmt::format("{}/{}", data, made->place_.folder);
  // Where there is no rename, a file has its name from the start: nobody sees it before the table names it.
  made->named_ = PendingFilesAt(plan->files, data) != nullptr;
  const std::string path = made->named_
                               ? fmt::format("{}{}{}_{}-{:016x}.parquet", made->folder_, plan->final_prefix(),
                                             plan->generation, made->place_.task, plan->env->Random())
                               : fmt::format("{}{}{}-{}-{}.inprogress", made->folder_, plan->hidden_prefix(),
                                             plan->generation, made->place_.task, made->place_.number);
  made->file_ = std::make_unique<DeferredFile>(plan->files, path);
  ASSIGN_OR_RETURN(made->writer_, ParquetWriter::Make(plan->content, plan->parquet, made->file_.get()));
  return made;
}

Result<iceberg::DataFile> DataFileWriter::Finish(Epoch epoch) {
  ASSIGN_OR_RETURN(const ParquetFooter footer, writer_->Finish());
  RETURN_IF_ERROR(file_->Close());
  if (named_) {
    const std::string name = file_->path().substr(folder_.size());
    return Describe(footer, fmt::format("{}/{}{}", plan_->data_folder(), place_.folder, name));
  }
  const std::string name = fmt::format("{}{}-{}-{}-{}.parquet", plan_->final_prefix(), epoch.generation,
                                       epoch.number, place_.task, place_.number);
  // Called again after an error, the file may have its name already.
  ASSIGN_OR_RETURN(const bool waiting, plan_->files->Exists(file_->path()));
  if (waiting) {
    ASSIGN_OR_RETURN(const bool renamed, plan_->files->RenameIfAbsent(file_->path(), folder_ + name));
    if (!renamed)
      return Status::User(fmt::format("'{}{}' is there already", folder_, name)).Hint("move it away");
  }
  return Describe(footer, fmt::format("{}/{}{}", plan_->data_folder(), place_.folder, name));
}

iceberg::DataFile DataFileWriter::Describe(const ParquetFooter& footer, std::string location) const {
  iceberg::DataFile file = DescribeColumns(plan_->ids, plan_->types, footer);
  file.file_path = std::move(location);
  file.partition = place_.partition;
  file.file_size_in_bytes = file_->size();
  return file;
}

}  // namespace caudal
