// PositionKeeper: a SinkCommitter whose target keeps, beside an epoch's rows, how far the sources were read
// for them.
//
// A role of its own, since most targets have no place for it. Called by the thread that calls Commit.
#pragma once

#include <string>
#include <vector>

namespace caudal {

// How far a source was read for an epoch.
struct SourcePosition {
  std::string source;  // its id in the plan
  std::string split;
  std::string position;  // as the source's reader gave it
};

class PositionKeeper {
 public:
  virtual ~PositionKeeper() = default;
  // Of all splits at the end of the epoch that Commit is called for next, also where a start repeats it.
  virtual void NotePositions(const std::vector<SourcePosition>& positions) = 0;
};

}  // namespace caudal
