#include "iceberg/maintenance/file_check.h"

#include <fmt/format.h>

#include "format/parquet_reader.h"
#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/deletes/position_deletes.h"
#include "iceberg/deletes/puffin.h"

namespace caudal::iceberg {
namespace {

bool IsParquet(const DataFile& file) {
  return file.file_format == "PARQUET" || file.file_format == "parquet";
}

// A damaged file is a violation; a disk that does not answer ends the check.
Status Judge(const Status& status, const std::string& place, Violations* found) {
  if (status.ok()) return Status();
  if (status.domain() == Domain::kExternal) return status;
  found->Add(place, status.message());
  return Status();
}

}  // namespace

Result<bool> FileCheck::IsThere(const std::string& location, int64_t size, const std::string& place) {
  ASSIGN_OR_RETURN(const std::string path, PathOf(location));
  ASSIGN_OR_RETURN(const bool there, files_->file_system()->Exists(path));
  if (!there) {
    found_->Add(place, "the file is not there");
    return false;
  }
  ASSIGN_OR_RETURN(const FileInfo info, files_->file_system()->Stat(path));
  ++checked_;
  bytes_ += info.size;
  if (info.size == size) return true;
  found_->Add(place, fmt::format("it has {} bytes, and the table says {}", info.size, size));
  return false;
}

Status FileCheck::Check(const DataFile& file, const std::string& place) {
  // The rows of a vector are not those of its file.
  const int64_t rows = file.is_deletion_vector() ? 0 : file.record_count;
  const auto [known, is_new] = rows_.emplace(file.file_path, rows);
  if (!is_new) {
    if (known->second != rows)
      found_->Add(place,
                  fmt::format("it has {} rows here, and {} elsewhere in the table", rows, known->second));
    return Status();
  }
  ASSIGN_OR_RETURN(const bool there, IsThere(file.file_path, file.file_size_in_bytes, place));
  if (!there || !IsParquet(file)) return Status();
  ASSIGN_OR_RETURN(const std::string path, PathOf(file.file_path));
  ASSIGN_OR_RETURN(const auto open, files_->file_system()->Open(path));
  const auto reader = ParquetReader::Open(open.get(), path);
  if (!reader.ok()) return Judge(reader.status(), place, found_);
  if ((*reader)->rows() == rows) return Status();
  found_->Add(place, fmt::format("it has {} rows, and the table says {}", (*reader)->rows(), rows));
  return Status();
}

Status FileCheck::CheckVector(const DataFile& vector, const DataFile& data, const std::string& place) {
  const std::string pair = fmt::format("{}@{}", vector.file_path, *vector.content_offset);
  if (!deletes_.insert(pair + "\n" + data.file_path).second) return Status();
  // Without its file, which was said, there is nothing to read.
  ASSIGN_OR_RETURN(const std::string path, PathOf(vector.file_path));
  ASSIGN_OR_RETURN(const bool there, files_->file_system()->Exists(path));
  if (!there) return Status();
  const auto positions = ReadDeletionVector(files_->file_system(), vector);
  if (!positions.ok()) return Judge(positions.status(), place, found_);
  CheckRows(*positions, data, place);
  return Status();
}

Status FileCheck::CheckPositions(const DataFile& deletes, const DataFile& data, const std::string& place) {
  if (!deletes_.insert(deletes.file_path + "\n" + data.file_path).second) return Status();
  ASSIGN_OR_RETURN(const std::string path, PathOf(deletes.file_path));
  ASSIGN_OR_RETURN(const bool there, files_->file_system()->Exists(path));
  if (!there) return Status();
  PositionSet positions;
  const Status read = AddDeletedPositions(files_->file_system(), deletes, data.file_path, &positions);
  if (!read.ok()) return Judge(read, place, found_);
  CheckRows(positions, data, place);
  return Status();
}

void FileCheck::CheckRows(const PositionSet& positions, const DataFile& data, const std::string& place) {
  if (positions.size() == 0) return;
  const int64_t last = positions.ToVector().back();
  if (last < data.record_count) return;
  found_->Add(
      place, fmt::format("it deletes row {} of '{}', which has {}", last, data.file_path, data.record_count));
}

Status FileCheck::CheckStatistics(const StatisticsFile& statistics) {
  const std::string place =
      fmt::format("statistics of snapshot {}, file '{}'", statistics.snapshot_id, statistics.path);
  ASSIGN_OR_RETURN(const bool there, IsThere(statistics.path, statistics.size, place));
  if (!there || statistics.of_partitions) return Status();
  ASSIGN_OR_RETURN(const std::string bytes, files_->Read(statistics.path));
  return Judge(ReadPuffinFooter(bytes).status(), place, found_);
}

}  // namespace caudal::iceberg
