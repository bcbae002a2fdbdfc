#include "connect/iceberg/scan/files_in_turn.h"

#include <algorithm>

namespace caudal {

Result<SourceRows> FilesInTurn::Next(ScanPosition* position) {
  SourceRows out;
  const auto end_file = [&] {
    reader_ = nullptr;
    ++position->files;
    position->rows = 0;
  };
  while (position->files < static_cast<int64_t>(files())) {
    const auto number = static_cast<size_t>(position->files);
    if (reader_ == nullptr && !around_.filter.CanHold(file(number), table_)) {
      end_file();
      continue;
    }
    if (reader_ == nullptr) {
      ASSIGN_OR_RETURN(reader_, Open(number, position->rows));
    }
    ASSIGN_OR_RETURN(FileRows rows, reader_->Next());
    const int32_t physical = rows.chunk.physical_rows();
    if (physical == 0) {
      end_file();
      continue;
    }
    position->rows = rows.first + physical;
    if (rows.chunk.empty()) continue;  // none of them is wanted
    const iceberg::DataFile& data = file(number).file;
    out.file = data.file_path;
    out.bytes = data.file_size_in_bytes * physical / std::max<int64_t>(1, data.record_count);
    for (int64_t row = rows.first; row < rows.first + physical; ++row) out.offsets.push_back(row);
    out.chunk = Finish(number, std::move(rows.chunk));
    return out;
  }
  return out;
}

}  // namespace caudal
