// SegmentFile: the durable rows of one sink task's epoch, invisible until they are committed.
//
// The sinks whose targets cannot hold invisible rows share it (docs/formats/segment.md): the connector's
// magic, the length of a JSON header and the header, then the records. What applies a segment needs nothing
// but the file and the target. SegmentRecords reads it. Functions may be called from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/segment/epoch_rows.h"
#include "api/sink.h"
#include "base/status.h"
#include "fs/file_system.h"

namespace caudal {

// What a sink's segments are called and how they begin. Plain data.
struct SegmentForm {
  std::string connector;           // "jdbc"
  std::string magic;               // 8 bytes: the connector and the format's version
  std::string header;              // JSON text: all that a commit must know to read the records
  std::string origin;              // which target the rows are for
  std::string former_origin = {};  // what an earlier caudal called it; empty: the same
  std::string declared;            // the table's name in the script
  std::vector<int> key;            // columns by which an epoch is folded; empty = every row is kept

  // What the files are called, up to the epoch and the task.
  std::string file_prefix() const;
};

// Writes the rows and makes them durable; `path` is overwritten.
Result<Committable> WriteSegment(FileSystem* files, const std::string& path, const SegmentForm& form,
                                 const EpochRows& rows);

// A segment without records.
std::string EmptySegment(const SegmentForm& form);

// What a committable's payload says.
struct SegmentReference {
  std::string path;
  std::string target;  // SegmentForm::origin when it was written; empty in manifests of earlier forms
  int64_t size = 0;
  uint32_t checksum = 0;
  int64_t records = 0;

  static Result<SegmentReference> Parse(const SegmentForm& form, std::string_view payload);
  // User error when the table says another target than when the rows were prepared: another target has
  // another ledger, which cannot tell what the former one has. `options` name the target in the table.
  Status CheckTarget(const SegmentForm& form, std::string_view options) const;
};

// Removes the files of committables that the target has: nobody asks for them again, and one that stays is a
// leftover.
void RemoveSegments(FileSystem* files, const SegmentForm& form, std::span<const Committable> committables);
// Every segment of the sink.
Status RemoveAllSegments(FileSystem* files, const std::string& folder, const SegmentForm& form);

}  // namespace caudal
