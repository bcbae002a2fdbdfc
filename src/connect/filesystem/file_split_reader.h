// FileSplitReader: one split of a folder as chunks: takes what its thread has read, decodes records, adds
// partitions, metadata and hidden columns.
//
// Used by the task's thread. A chunk never spans two files.
#pragma once

#include <memory>

#include "api/source.h"
#include "connect/filesystem/file_columns.h"
#include "connect/filesystem/file_reader_thread.h"

namespace caudal {

class FileSplitReader : public SplitReader {
 public:
  // `decoder`: null for Parquet. `columns` outlives the reader.
  FileSplitReader(Split split, const FileColumns* columns, std::unique_ptr<Decoder> decoder,
                  std::unique_ptr<FileReaderThread> thread, FilePosition position);

  Result<Poll> Next() override;
  Position position() const override { return position_.ToJson(); }
  int64_t records_passed() const override { return passed_; }
  Backlog backlog() const override;

 private:
  // Rows of the block that is being given; moves on in it.
  Result<SourceRows> DecodeRecords();
  Result<SourceRows> TakeChunk();
  // Files that came too late or changed, and warnings.
  SourceRows ReportNews();
  // The rest of the block's file cannot be read.
  SourceRows ReportBroken();
  // The block stands for a file that is in no partition of the table.
  SourceRows PassOver();
  void MoveTo(int64_t offset, bool done);
  void NoteListing();
  ColumnPtr Arrival(int32_t rows) const;

  Split split_;
  const FileColumns* columns_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<FileReaderThread> thread_;
  FilePosition position_;
  int64_t noted_look_ = 0;          // whose listing is in position_
  int64_t passed_ = 0;              // records that the position has moved over
  std::optional<FileBlock> block_;  // with rows that Next has not given yet
  size_t next_ = 0;                 // in block_'s records or chunks
};

}  // namespace caudal
