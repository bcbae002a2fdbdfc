// DuplicateCounter: whoever hands rows to a sink that looks whether its target has them already.
//
// A role of its own beside SinkRejects, since most sinks do not look. Called by the thread that calls Write.
#pragma once

#include <cstdint>

namespace caudal {

class DuplicateCounter {
 public:
  virtual ~DuplicateCounter() = default;
  // Rows of the chunk being written that the target has already and that are not written: duplicates.
  virtual void Duplicate(int32_t rows) = 0;
};

}  // namespace caudal
