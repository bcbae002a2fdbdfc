// EpochSegment: the durable rows of one sink task's epoch, invisible until they are committed.
//
// Format 1 (docs/formats/jdbc-segment.md): the magic, the length of a JSON header (table, columns, key
// columns) and the header, then the records. What applies it needs nothing but the file and the target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/sink.h"
#include "base/status.h"
#include "connect/jdbc/epoch_rows.h"
#include "connect/jdbc/jdbc_target.h"
#include "db/sqlite.h"
#include "fs/file_system.h"

namespace caudal {

// Writes the rows and makes them durable; `path` is overwritten. Any thread.
Result<Committable> WriteSegment(FileSystem* files, const std::string& path, const JdbcTarget& target,
                                 const EpochRows& rows);

// A segment without records.
std::string EmptySegment(const JdbcTarget& target);

// What a committable's payload says.
struct SegmentReference {
  std::string path;
  std::string target;  // JdbcTarget::origin() when it was written; empty in manifests of earlier forms
  int64_t size = 0;
  uint32_t checksum = 0;
  int64_t records = 0;

  static Result<SegmentReference> Parse(std::string_view payload);
};

// The segment's bytes, checked. `missing_or_damaged` is set when they can never be read again.
Result<std::string> ReadSegment(FileSystem* files, const SegmentReference& reference,
                                bool* missing_or_damaged);

// Applies every record, inside the caller's transaction.
Status ApplySegment(std::string_view segment, const SegmentReference& reference, Sqlite* database);

}  // namespace caudal
