// KafkaSinkFacts: what a committer finds out for the sink that made it.
//
// The sink owns it. `compression_refused` is written by the committer and read by any thread; `cluster` is
// written once, by LastCommitted, which comes before writers are made.
#pragma once

#include <atomic>
#include <string>

namespace caudal {

struct KafkaSinkFacts {
  std::atomic<bool> compression_refused{false};  // a broker has not taken the compression that was asked for
  std::string cluster;                           // that has the ledger; empty: there is none
};

}  // namespace caudal
