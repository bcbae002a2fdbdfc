// Supervisor: keeps an engine's process alive: forks it, waits, restarts it by the domain and retry of what
// ended it, passes on the signals that stop it.
//
// A crash (a signal, an abort, an injected fault) is an Internal error. Errors of the user and of the data
// are final. Uses one thread and no engine code, so that it survives whatever the engine does.
#pragma once

#include <functional>

#include "base/status.h"
#include "run/supervise/child_report.h"
#include "run/supervise/fault_plan.h"
#include "run/supervise/run_log.h"
#include "run/supervise/state_lock.h"

namespace caudal {

// Runs in the child and reports how it ended.
using ChildMain = std::function<void(ChildReport* report)>;

// Called before an engine that has ended is started again, with why and the pause in ms.
using RestartNote = std::function<void(const Status& why, int64_t pause_millis)>;

struct SupervisorResult {
  Status status;              // of the last process
  bool before_start = false;  // nothing had begun
};

// Whether it is SIGHUP and whoever started this process (nohup) asked to go on after it.
bool IsIgnoredHangup(int number);

// Until the child has ended for good. `listen` is for run.json.
SupervisorResult Supervise(const ChildMain& child, const FaultPlan& faults, RunLog* log,
                           const StateLock& lock, const std::string& listen, const RestartNote& note);

}  // namespace caudal
