// SplitClock: the event-time clock of one split: the maximum of the WATERMARK expression over its rows, in
// ms.
//
// Owned by the source task; one thread. Every row carries the clock as it was before the row; that alone
// decides later whether the row is late.
#pragma once

#include <cstdint>
#include <vector>

#include "data/chunk.h"
#include "data/message.h"

namespace caudal {

class SplitClock {
 public:
  int64_t now() const { return clock_; }
  void Restore(int64_t clock) { clock_ = clock; }

  struct Rows {
    const Column* watermark = nullptr;  // value of the WATERMARK expression; NULL moves nothing
    const Column* time = nullptr;       // the rowtime attribute
    const Column* arrival = nullptr;    // BIGINT ms; null: unknown
    int64_t wall_millis = 0;            // arrival of rows that do not tell
    int64_t max_skew = 0;  // ms that a row may be ahead of its arrival and move the clock; 0 = any
  };
  // Goes on over the selected rows in their order; `before[row]` becomes the clock before the physical row.
  // Gives the number of rows that were too far ahead.
  int64_t Advance(const Rows& rows, RowSet set, int64_t* before);

 private:
  int64_t clock_ = Watermark::kNone;
};

}  // namespace caudal
