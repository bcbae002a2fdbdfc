// FilePosition: where a split of a folder goes on: the file it stands in and how much of it is read.
//
// Everything whose name comes before `file` is read; `listed_micros` tells which of those a later run must
// look at again, because they got their name after this run last looked (docs/formats/positions.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "connect/filesystem/name_digest.h"

namespace caudal {

// A file as it was when it was read, so that a later change shows.
struct FileVersion {
  std::string name;
  int64_t size = 0;
  int64_t modified_micros = 0;
  bool operator==(const FileVersion&) const = default;
};

struct FilePosition {
  // Files that are remembered after they are read: more would make the manifest long.
  static constexpr size_t kRemembered = 64;

  std::string root;               // the table's folder as the table names it
  std::string folder;             // the same, absolute: the origin; empty: from before there was this
  int splits = 1;                 // what names were spread over
  std::string file;               // empty: nothing is read yet
  int64_t offset = 0;             // bytes, or rows of a Parquet file, that are done with
  bool done = false;              // all of the file
  uint64_t identity = 0;          // of the file, so that another under the same name is told apart
  int64_t listed_micros = 0;      // wall clock before the folder was last listed
  int64_t size = -1;              // of the file when it was opened: it is read up to there; -1 = not known
  int64_t modified_micros = 0;    // of the file then
  std::vector<FileVersion> read;  // the last kRemembered that are done, in that order
  // Names that were known then and got their name so shortly before that the clock cannot tell.
  std::vector<std::string> recent;
  NameDigest passed;  // the split's names before `file`, and it if it is done, that are known

  // Notes that a file is done, or that the change of one that is remembered has been reported.
  void Remember(FileVersion version);

  std::string ToJson() const;
  // User error if the text is not such a position.
  static Result<FilePosition> Parse(std::string_view json);
};

}  // namespace caudal
