// ParquetReader: one Parquet file, row group by row group, into columns of the wanted types.
//
// One thread. The file outlives the reader. What it gives is in own memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "data/chunk.h"
#include "data/schema.h"
#include "fs/file_system.h"

namespace caudal {

class ParquetReader {
 public:
  // `path`: for messages. Data error if it is not a whole Parquet file.
  static Result<std::unique_ptr<ParquetReader>> Open(RandomAccessFile* file, const std::string& path);
  virtual ~ParquetReader() = default;

  // The file's columns that caudal has a type for, in order.
  virtual const Schema& schema() const = 0;
  // Of the columns of schema(), in order; −1 = the file gives it none.
  virtual const std::vector<int32_t>& field_ids() const = 0;
  // Names of columns that it has not, each with what it is ("nested list").
  virtual const std::vector<std::pair<std::string, std::string>>& unreadable() const = 0;
  virtual int64_t rows() const = 0;
  // The first row behind the row group that has `row`; rows() if there is no such row.
  virtual int64_t GroupEnd(int64_t row) const = 0;

  // Reads only these columns, by name, as these types, from row `first` on. Data error if the file has
  // another type or has the name in another case. A column that the file lacks is NULL.
  virtual Status Project(const Schema& wanted, int64_t first) = 0;
  // At most Chunk::kMaxRows rows; none at the end. REQUIRES: Project.
  virtual Result<Chunk> Next() = 0;
};

}  // namespace caudal
