// SegmentRecords: reads a segment record by record, a block at a time.
//
// An epoch may be as large as a query's whole budget, and the next one is being collected while it is read:
// of a file no more than a block, or the record at hand if that is larger, is in memory. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/segment/segment_file.h"
#include "base/status.h"
#include "fs/file_system.h"

namespace caudal {

struct SegmentRecord {
  bool is_delete = false;
  std::string_view cells;  // of all columns, or of the key's for a delete; until the next record is read
};

// The `reference` outlives it.
class SegmentRecords {
 public:
  // A segment that is in memory.
  SegmentRecords(std::string segment, const SegmentReference& reference)
      : reference_(&reference), block_(std::move(segment)) {}
  // One of a file. All of it is looked at first, so that nothing is given of one that is not as it was
  // written: that is a Data error, and `missing_or_damaged` is set when it can never be read again.
  static Result<SegmentRecords> OfFile(FileSystem* files, const SegmentReference& reference,
                                       bool* missing_or_damaged);

  // Data error when the bytes are no segment of that form.
  Status Open(std::string_view magic);
  const std::string& header() const { return header_; }
  // False behind the last record.
  Result<bool> Next(SegmentRecord* record);
  int64_t read() const { return read_; }  // records so far
  Status Damaged() const;

 private:
  SegmentRecords(std::unique_ptr<RandomAccessFile> file, const SegmentReference& reference)
      : reference_(&reference), file_(std::move(file)) {}
  // The sum of the file's bytes; the last block stays if it is the only one.
  Result<uint32_t> Checksum();
  // Makes `count` bytes stand at `at_`. False when there are no more so many.
  Result<bool> Need(size_t count);

  const SegmentReference* reference_;
  std::unique_ptr<RandomAccessFile> file_;  // null: all is in `block_`
  int64_t next_ = 0;                        // in the file, behind `block_`
  std::string block_;
  size_t at_ = 0;  // in `block_`
  std::string header_;
  int64_t read_ = 0;
};

}  // namespace caudal
