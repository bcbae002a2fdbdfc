// SegmentFile: the durable rows of one sink task's epoch, invisible until they are committed.
//
// The sinks whose targets cannot hold invisible rows share it (docs/formats/segment.md): the connector's
// magic, the length of a JSON header and the header, then the records. What applies a segment needs nothing
// but the file and the target. Functions may be called from any thread; SegmentRecords belongs to one.
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

// The segment's bytes, checked. `missing_or_damaged` is set when they can never be read again.
Result<std::string> ReadSegment(FileSystem* files, const SegmentReference& reference,
                                bool* missing_or_damaged);

// Removes the files of committables that the target has: nobody asks for them again, and one that stays is a
// leftover.
void RemoveSegments(FileSystem* files, const SegmentForm& form, std::span<const Committable> committables);
// Every segment of the sink.
Status RemoveAllSegments(FileSystem* files, const std::string& folder, const SegmentForm& form);

struct SegmentRecord {
  bool is_delete = false;
  std::string_view cells;  // of all columns, or of the key's for a delete
};

// Reads a segment record by record. `segment` and `reference` outlive it.
class SegmentRecords {
 public:
  SegmentRecords(std::string_view segment, const SegmentReference& reference)
      : segment_(segment), reference_(&reference) {}

  // Data error when the bytes are no segment of that form.
  Status Open(std::string_view magic);
  std::string_view header() const { return header_; }
  // False behind the last record.
  Result<bool> Next(SegmentRecord* record);
  int64_t read() const { return read_; }  // records so far
  Status Damaged() const;

 private:
  std::string_view segment_;
  const SegmentReference* reference_;
  std::string_view header_;
  size_t at_ = 0;
  int64_t read_ = 0;
};

}  // namespace caudal
