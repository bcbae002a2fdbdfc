// FileReplacement: data files whose live rows were written anew, and where each of those rows is now.
//
// Values, and a pure function over them; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "iceberg/manifest/manifest.h"

namespace caudal::iceberg {

// A data file that was read, without the rows that were deleted then.
struct RewrittenFile {
  std::string path;  // as the table has it
  int64_t records = 0;
  std::vector<int64_t> gone = {};  // positions, ascending
};

// One group: of one partition of one spec. The live rows of `from`, one file after the other, are those of
// `to`.
struct FileReplacement {
  int32_t spec_id = 0;
  std::vector<RewrittenFile> from;
  std::vector<DataFile> to;
  std::vector<uint32_t> order;  // of the i-th live row its number among those of `to`; empty: the same
  int64_t sequence_number = 0;  // of the snapshot in which `from` was read
  int64_t snapshot_id = 0;      // its own
};

// Where rows went. The replacement outlives it.
class RowMoves {
 public:
  explicit RowMoves(const FileReplacement* replacement);

  struct Place {
    size_t file = 0;  // of `to`
    int64_t position = 0;
  };
  // Of a row of the file of this number in `from`; nothing if it was gone already.
  std::optional<Place> Find(size_t from, int64_t position) const;

 private:
  const FileReplacement* replacement_;
  std::vector<int64_t> first_;   // live rows before each file of `from`
  std::vector<int64_t> behind_;  // rows in the files of `to` up to each
};

}  // namespace caudal::iceberg
