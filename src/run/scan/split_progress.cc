#include "run/scan/split_progress.h"

#include <algorithm>

namespace caudal {

void SplitProgress::SetDurable(int64_t committed_records, int64_t committed_arrival_millis,
                               int64_t now_millis) {
  durable = {};
  durable.settled = backlog.settled;
  if (backlog.rows < 0) return;
  durable.rows = backlog.rows + std::max<int64_t>(0, records - std::max<int64_t>(0, committed_records));
  // The age of the last row that is safe; of the first one since, if none of this process is.
  const int64_t since = committed_arrival_millis >= 0 ? committed_arrival_millis : first_arrival_millis;
  if (durable.rows == 0) {
    durable.millis = 0;
  } else if (since >= 0) {
    durable.millis = std::max(std::max<int64_t>(0, now_millis - since), backlog.millis);
  } else {
    durable.millis = backlog.millis;
  }
}

}  // namespace caudal
