// ScanRows: the rows of one split of a table, batch by batch, behind a position.
//
// Whoever calls waits for the disk: the reader's thread. One thread at a time.
#pragma once

#include <cstdint>
#include <string>

#include "api/source.h"

namespace caudal {

// How far a share is read: after `rows` rows of its file number `files`.
struct ScanPosition {
  int64_t files = 0;
  int64_t rows = 0;

  Position ToText(const std::string& share) const;
  // User error for a position of another share. Empty text: the start.
  static Result<ScanPosition> Parse(const Position& text, const std::string& share);
};

class ScanRows {
 public:
  virtual ~ScanRows() = default;
  // The next rows; without any: all is read.
  virtual Result<SourceRows> Next() = 0;
  virtual const ScanPosition& position() const = 0;  // after them
};

}  // namespace caudal
