#include "run/scan/split_clock.h"

#include <algorithm>
#include <optional>

#include "data/column_view.h"

namespace caudal {
namespace {

int64_t FloorDivide(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

}  // namespace

int64_t SplitClock::Advance(const Rows& rows, RowSet set, int64_t* before) {
  const ColumnView<int64_t> watermarks(*rows.watermark);
  const ColumnView<int64_t> times(*rows.time);
  std::optional<ColumnView<int64_t>> arrivals;
  if (rows.arrival != nullptr) arrivals.emplace(*rows.arrival);
  const int64_t ticks = rows.watermark->type().ticks_per_second() / 1000;
  const int64_t time_ticks = rows.time->type().ticks_per_second() / 1000;
  int64_t ahead = 0;
  for (int32_t i = 0; i < set.count; ++i) {
    const int32_t row = set[i];
    before[row] = clock_;
    if (watermarks.IsNull(row)) continue;
    const int64_t candidate = FloorDivide(watermarks[row], ticks);
    if (candidate <= clock_) continue;
    if (rows.max_skew > 0) {
      const bool told = arrivals && !arrivals->IsNull(row);
      // Who wrote the record may have told it, from the same wrong clock: nothing arrives after now.
      const int64_t arrival = told ? std::min((*arrivals)[row], rows.wall_millis) : rows.wall_millis;
      if (FloorDivide(times[row], time_ticks) > arrival + rows.max_skew) {
        ++ahead;
        continue;
      }
    }
    clock_ = candidate;
  }
  return ahead;
}

}  // namespace caudal
