// NeobankOptions: what stream of card transactions to make. Plain data, owned by whoever holds it; no thread
// rule.
//
// Fractions are of all rows sent. The same options give the same bytes on every machine, and the first n rows
// of a longer run are the rows of a run of n.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace caudal {

struct NeobankOptions {
  uint64_t events = 1'000'000;
  uint64_t seed = 42;
  // How fast event time goes; how fast rows are sent is the sender's affair.
  double events_per_second_of_event_time = 52;
  // 2025-03-03 09:00:00 UTC: well in the past, so that no row is ahead of the file that carries it.
  int64_t start_ms = 1'740'992'400'000;

  double duplicates = 0.01;  // a row again, less than 4 minutes after the first
  double late = 0.005;       // a row at or behind the clock
  double malformed = 0.001;  // bytes that are no transaction
  double broken = 0.0005;    // a NOT NULL field is null or missing
  double late_retries =
      5e-4;                // a row again, 6 to 25 minutes after the first, half of them with a new timestamp
  double settled = 0.001;  // an id that was first filtered or late and now comes in time and completed
  double at_clock = 0.0002;  // a row 1 ms ahead of the clock: the oldest that is still in time
  double not_completed = 0.08;
  double not_positive = 0.01;

  uint32_t accounts = 10'000;
  uint32_t merchants = 5'000;
  uint64_t file_events = 50'000;  // in the form of files
  uint32_t partitions = 1;        // in the form of a log; each has a clock of its own

  // The pipeline's rules, by which rows are made late and fates are told.
  int64_t watermark_delay_ms = 5 * 60'000;
  int64_t retain_ms = 5 * 60'000;

  // Says which option is wrong, by the name it has on the command line.
  Status Validate() const;
};

// "1%", "0.5 %" or "0.01" as a fraction between 0 and 1; `option` is for the message.
Result<double> ParseFraction(std::string_view option, std::string_view text);

}  // namespace caudal
