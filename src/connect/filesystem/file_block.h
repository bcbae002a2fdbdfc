// FileBlock: what the reading thread hands to the task: a piece of one file, cut into records or, for
// Parquet, already in columns; or word of files that came too late, changed, are none of the table's or
// cannot be read, of the end, or of a failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "connect/filesystem/file_queue.h"
#include "data/chunk.h"
#include "format/decoder.h"

namespace caudal {

struct FileBlock {
  ListedFile file;                 // empty name: not of a file
  std::vector<RawRecord> records;  // offsets are those of the file
  std::vector<BufferPtr> pins;     // what the records point into
  std::vector<Chunk> chunks;       // of a Parquet file, in the columns that were asked for
  int64_t first_row = 0;           // of `chunks`, in the file
  int64_t end_offset = 0;          // where the file goes on behind this block
  bool end_of_file = false;
  struct Late {  // a file that is passed over
    ListedFile file;
    int64_t records = 0;
  };
  std::vector<Late> late;
  Status stray;  // not ok: all of `file` is passed over, and why
  int64_t stray_records = 0;
  struct Broken {  // `file` cannot be read behind `end_offset`: the rest is passed over
    Status why;
    bool changed = false;  // it is no longer what was opened
    int64_t records = 1;
  };
  std::optional<Broken> broken;
  std::vector<FileQueue::Changed> changed;
  std::vector<std::string> warnings;
  Listing listing;            // when the folder was last listed
  bool end_of_input = false;  // nothing follows
  Status failure;             // nothing follows
};

}  // namespace caudal
