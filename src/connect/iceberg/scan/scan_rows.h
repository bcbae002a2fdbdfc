// ScanRows: the rows of one split of a table, batch by batch, behind a position.
//
// Whoever calls waits for the disk: the reader's thread. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/source.h"

namespace caudal {

// How far a share is read: after `rows` rows of its file number `files`.
struct ScanPosition {
  int64_t files = 0;
  int64_t rows = 0;
  // Of a table that is read as it grows: the snapshot whose files those are, once one is begun; `done`: they
  // are all read.
  std::optional<int64_t> snapshot = {};
  bool done = false;

  bool operator==(const ScanPosition&) const = default;
  Position ToText(const std::string& share) const;
  // User error for a position of another share. Empty text: the start.
  static Result<ScanPosition> Parse(const Position& text, const std::string& share);
};

class ScanRows {
 public:
  virtual ~ScanRows() = default;
  // The next rows; without any: all is read, or, of what grows, nothing more is there yet.
  virtual Result<SourceRows> Next() = 0;
  // How long to wait then before Next is called again; -1: there will never be more.
  virtual int64_t pause_millis() const { return -1; }
  virtual const ScanPosition& position() const = 0;  // after them
};

}  // namespace caudal
