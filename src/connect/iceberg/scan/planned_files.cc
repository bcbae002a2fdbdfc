#include "connect/iceberg/scan/planned_files.h"

#include <algorithm>

namespace caudal {

PlannedFiles::PlannedFiles(const ScanSurroundings* around, const iceberg::TableMetadata* table,
                           iceberg::ScanPlan plan)
    : around_(*around), table_(*table), plan_(std::move(plan)) {
  const auto shares = static_cast<size_t>(around_.shares), share = static_cast<size_t>(around_.share);
  for (size_t i = share; i < plan_.files.size(); i += shares) mine_.push_back(&plan_.files[i]);
}

Result<SourceRows> PlannedFiles::Next(ScanPosition* position) {
  SourceRows out;
  const auto end_file = [&] {
    reader_ = nullptr;
    ++position->files;
    position->rows = 0;
  };
  while (position->files < static_cast<int64_t>(mine_.size())) {
    const iceberg::ScanFile& file = *mine_[static_cast<size_t>(position->files)];
    if (reader_ == nullptr && !around_.filter.CanHold(file.data, table_)) {
      end_file();
      continue;
    }
    if (reader_ == nullptr) {
      ASSIGN_OR_RETURN(reader_, DataFileReader::Open(around_.files, table_, plan_, file, around_.columns,
                                                     around_.share, position->rows));
    }
    ASSIGN_OR_RETURN(FileRows rows, reader_->Next());
    const int32_t physical = rows.chunk.physical_rows();
    if (physical == 0) {
      end_file();
      continue;
    }
    position->rows += physical;
    if (rows.chunk.empty()) continue;  // all of them are deleted
    const iceberg::DataFile& data = file.data.file;
    out.file = data.file_path;
    out.bytes = data.file_size_in_bytes * physical / std::max<int64_t>(1, data.record_count);
    for (int64_t row = rows.first; row < rows.first + physical; ++row) out.offsets.push_back(row);
    out.chunk = std::move(rows.chunk);
    return out;
  }
  return out;
}

}  // namespace caudal
