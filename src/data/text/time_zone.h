// TimeZone: a session's time zone: offsets from UTC at an instant and of a local time.
//
// Copied freely; a copy belongs to one thread, since it remembers the stretch of constant offset it saw last,
// which makes a lookup a comparison for times that lie close together.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/status.h"

namespace date {
class time_zone;
}

namespace caudal {

class TimeZone {
 public:
  TimeZone() = default;  // UTC

  // "UTC", "America/New_York", "GMT+08:00", "+02:00", "Z". User error for a name that nobody knows.
  static Result<TimeZone> Find(std::string_view name);

  const std::string& name() const { return name_; }
  // Whether the offset is zero for ever.
  bool is_utc() const { return zone_ == nullptr && fixed_offset_ == 0; }

  // Seconds east of Greenwich at the instant `utc_seconds`.
  int32_t OffsetAt(int64_t utc_seconds);

  // A local wall clock as an instant. A local time that a change of the clock skips moves on by the gap; of
  // one that exists twice, `later` picks the second (Java's SimpleDateFormat), else the first (java.time).
  int64_t ToUtcSeconds(int64_t local_seconds, bool later = false);
  int64_t ToLocalSeconds(int64_t utc_seconds) { return utc_seconds + OffsetAt(utc_seconds); }

 private:
  void Load(int64_t utc_seconds);

  std::string name_ = "UTC";
  const date::time_zone* zone_ = nullptr;  // of the process's time zone database; null: fixed_offset_
  int32_t fixed_offset_ = 0;
  // The stretch seen last: begin_ <= t < end_.
  int64_t begin_ = std::numeric_limits<int64_t>::max();
  int64_t end_ = std::numeric_limits<int64_t>::min();
  int32_t offset_ = 0;
};

}  // namespace caudal
