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

namespace caudal {

struct FilePosition {
  std::string root;           // the table's folder: the origin
  int splits = 1;             // what names were spread over
  std::string file;           // empty: nothing is read yet
  int64_t offset = 0;         // bytes, or rows of a Parquet file, that are done with
  bool done = false;          // all of the file
  uint64_t identity = 0;      // of the file, so that another under the same name is told apart
  int64_t listed_micros = 0;  // wall clock before the folder was last listed
  // Names that were known then and got their name so shortly before that the clock cannot tell.
  std::vector<std::string> recent;

  std::string ToJson() const;
  // User error if the text is not such a position.
  static Result<FilePosition> Parse(std::string_view json);
};

}  // namespace caudal
