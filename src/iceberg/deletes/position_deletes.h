// Position deletes as Parquet files, the form of format 2: rows of (data file, position), sorted by both.
//
// Pure functions but for the files they read; any thread; block. The code of Parquet is loaded on first use.
#pragma once

#include <map>
#include <string>

#include "base/status.h"
#include "fs/file_system.h"
#include "iceberg/deletes/position_set.h"
#include "iceberg/manifest/manifest.h"

namespace caudal::iceberg {

// The ids of their columns, which are the same in every table.
inline constexpr int32_t kDeletedPathId = 2147483546;
inline constexpr int32_t kDeletedPositionId = 2147483545;

// Adds what the file `deletes` says of `data_file`; it may hold positions of many. User error for another
// format than Parquet; Data error for a file that is damaged.
Status AddDeletedPositions(FileSystem* files, const DataFile& deletes, const std::string& data_file,
                           PositionSet* positions);

// The same of every data file that it names.
Status AddAllDeletedPositions(FileSystem* files, const DataFile& deletes,
                              std::map<std::string, PositionSet, std::less<>>* positions);

struct PositionDeleteFile {
  std::string bytes;
  DataFile file;  // without its path and partition
};
// Of data files of one partition of one spec. REQUIRES: some position.
Result<PositionDeleteFile> WritePositionDeletes(const std::map<std::string, const PositionSet*>& positions);

}  // namespace caudal::iceberg
