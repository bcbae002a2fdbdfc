// RunOptions: how `caudal run` runs its programs. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace caudal {

struct RunOptions {
  std::vector<std::string> paths;           // pipeline files and scripts
  std::string profile;                      // of each pipeline file; empty = none
  std::string state_root = "caudal-state";  // checkpoints, operations store, log
  std::string listen_host;                  // of /metrics; empty = none
  int listen_port = 0;
  int64_t until_idle_millis = 0;             // stop once no row has come for so long; 0 = run on
  bool drain = false;                        // then close all windows, for good
  bool restarted = false;                    // the engine's process is not the first of this run
  int threads = 0;                           // 0 = one a core
  int64_t memory_limit = 0;                  // of the process; 0 = each query's own
  std::vector<std::string> allow_dropped;    // operators whose state may go
  std::vector<std::string> allow_abandoned;  // stored queries that nothing needs to take up
  // Of a rebuild: this query alone, into this branch of its table; empty: all, where they write.
  std::string only_query, branch;
  std::string faults;  // CAUDAL_FAULT: for tests, see fault_plan.h
};

}  // namespace caudal
