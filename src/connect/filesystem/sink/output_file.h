// OutputFile: one file that a sink writes, of either format, under its hidden name.
//
// One thread at a time: the task's until Seal, then an I/O thread's. Trouble with the disk shows in Finish
// alone, which may be called again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "connect/filesystem/file_options.h"
#include "data/chunk.h"
#include "data/schema.h"
#include "fs/file_system.h"
#include "fs/pending_files.h"

namespace caudal {

class OutputFile {
 public:
  // What all files of a table have in common.
  struct Format {
    FileSystem* files = nullptr;
    PendingFiles* pending = nullptr;  // what gives the files their names, where there is no rename
    FileTableOptions options;
    Options table_options;
    Schema content;  // the columns that stand in the file
  };
  static Result<std::unique_ptr<OutputFile>> Make(const Format& format, std::string path);
  virtual ~OutputFile() = default;

  virtual Status Append(const std::vector<ColumnPtr>& columns, RowSet rows) = 0;
  // No row follows.
  virtual Status EndRows() { return Status(); }
  // Does some milliseconds of what Finish would have to do. True: there is more.
  virtual Result<bool> Step() { return false; }
  // Makes the file whole and durable; the rows it holds, counted from what was written.
  virtual Result<int64_t> Finish() = 0;

  virtual int64_t size() const = 0;             // of the file, after Finish
  virtual int64_t estimated_bytes() const = 0;  // of the file, before
  virtual int64_t buffered_bytes() const = 0;   // of memory
  virtual const std::string& path() const = 0;
  // What publishes it; empty: it is renamed. After Finish.
  virtual std::string ticket() const = 0;
};

}  // namespace caudal
