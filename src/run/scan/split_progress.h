// SplitProgress: how far one split of a source is, as others may see it. Plain data, a copy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/source.h"
#include "data/message.h"

namespace caudal {

struct SplitProgress {
  std::string id;
  Backlog backlog;  // behind the last row read
  Backlog durable;  // behind the last row of a committed epoch: rows and millis
  int64_t watermark =
      Watermark::kNone;  // its own clock; the source's watermark is the least of those not idle
  bool idle = false;
  int64_t gaps = 0;
  std::vector<LostRange> losses;
  int64_t records = 0;                // passed since this process opened it
  int64_t first_arrival_millis = -1;  // of the first row among them; -1 = there was none

  // From what is read and not committed yet; `committed`: `records` and the last arrival as of the last
  // commit, -1 = no commit of this process.
  void SetDurable(int64_t committed_records, int64_t committed_arrival_millis, int64_t now_millis);
};

}  // namespace caudal
