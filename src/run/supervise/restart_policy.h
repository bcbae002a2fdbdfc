// RestartPolicy: whether what ended with an error is tried again, and after which pause. Decides by the
// error's domain and retry alone, for a query within its process as for the process itself.
//
//   user, data     final
//   external       as long as it takes
//   internal       a few times; progress in between makes the count begin again
//
// No clock, no thread: who asks waits.
#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"

namespace caudal {

class RestartPolicy {
 public:
  struct Limits {
    int internal_failures;       // in a row: so many are final
    int64_t first_pause_millis;  // doubles with each failure in a row
    int64_t longest_pause_millis;
  };

  explicit RestartPolicy(Limits limits) : limits_(limits) {}

  // It got on: an epoch was committed.
  void Progressed() { failures_ = 0; }
  // Milliseconds to wait before the next try; none if this was the last. OK counts as a failure to stay up.
  std::optional<int64_t> AfterEnd(const Status& status);

  int failures() const { return failures_; }  // in a row

 private:
  Limits limits_;
  int failures_ = 0;
};

}  // namespace caudal
