#include "ops/ops_row.h"

#include "data/text/time_text.h"

namespace caudal {

OpsRow& OpsRow::Time(int64_t millis) {
  constexpr int64_t kLatest = 253'402'300'799'999;  // 9999-12-31 23:59:59.999
  if (millis < -kLatest || millis > kLatest) return Null();
  char text[kTimestampTextSize];
  return Text({text, FormatTimestamp(millis * 1000, 3, text)});
}

}  // namespace caudal
