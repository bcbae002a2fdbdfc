// ParquetWriter: chunks into one Parquet file. Rows gather in columns; a full row group is encoded part by
// part in steps, so that no single call takes long.
//
// One thread at a time, which may change between calls (a task's, then an I/O thread's). The file outlives
// the writer. A failing disk loses nothing: the file keeps what is not written, Finish may be called again.
//
// The code that calls Arrow lives in a module that is loaded on first use (parquet_module.h), so that a
// program that touches no Parquet starts quickly.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/chunk.h"
#include "data/schema.h"
#include "data/value.h"
#include "fs/file_system.h"

namespace caudal {

struct ParquetOptions {
  int64_t row_group_rows = 128 * 1024;
  enum class Compression : uint8_t { kZstd, kSnappy, kNone } compression = Compression::kZstd;
  int compression_level = 1;            // of zstd
  std::vector<int32_t> field_ids = {};  // of the columns, in order; empty: they have none
};

// What the written file's footer says.
struct ParquetFooter {
  struct Column {
    int64_t bytes = 0;  // compressed
    int64_t nulls = 0;
    int64_t nans = 0;
    // In the form of data/value.h, NaN left out; nothing if there is no value, or if it is not known for a
    // row group (its text is long).
    std::optional<Value> lowest = std::nullopt, highest = std::nullopt;
  };
  int64_t rows = 0;
  int64_t row_groups = 0;
  std::vector<Column> columns = {};
  std::vector<int64_t> group_offsets = {};  // where the row groups begin
};

class ParquetWriter {
 public:
  // User error if a column's type has no form in Parquet; External if the module cannot be loaded.
  static Result<std::unique_ptr<ParquetWriter>> Make(const Schema& schema, const ParquetOptions& options,
                                                     WritableFile* file);
  virtual ~ParquetWriter() = default;

  // Copies the rows. `columns`: of the schema.
  virtual Status Append(const std::vector<ColumnPtr>& columns, RowSet rows) = 0;
  // Encodes some rows of one column of a full row group, if there is one. True: there is more to encode.
  virtual Result<bool> Step() = 0;
  // No row follows: what is gathered is left to Step, too, so that Finish has little to do.
  virtual Status EndRows() = 0;
  // Encodes all that is left and writes the footer; the caller closes the file.
  virtual Result<ParquetFooter> Finish() = 0;

  virtual int64_t rows() const = 0;            // appended
  virtual int64_t buffered_bytes() const = 0;  // of memory
  // What the file would be if it were finished now, roughly.
  virtual int64_t estimated_file_bytes() const = 0;
};

}  // namespace caudal
