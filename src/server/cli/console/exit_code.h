// ExitCode: what a command tells the shell. Part of the interface: scripts rely on the numbers.
#pragma once

#include "base/status.h"

namespace caudal {

enum class ExitCode : int {
  kOk = 0,
  kUsage = 1,     // the command line itself is wrong
  kData = 2,      // rows break their contract, or an SLO is missed
  kRefused = 3,   // nothing was started: SQL, pipeline file, options, state or paths are wrong
  kVerify = 4,    // a verification found a difference
  kInternal = 5,  // caudal is wrong, or what it needs failed while it ran
};

// The code of an error that came before anything ran.
inline ExitCode RefusalCode(const Status& status) {
  if (status.ok()) return ExitCode::kOk;
  if (status.domain() == Domain::kData) return ExitCode::kData;
  return status.domain() == Domain::kInternal ? ExitCode::kInternal : ExitCode::kRefused;
}

// The code of an error that ended what was running. What the user did wrong and only rows could show (a
// statement that some value breaks, a target that changed under a run) counts with the data.
inline ExitCode FailureCode(const Status& status) {
  if (status.ok()) return ExitCode::kOk;
  const bool by_rows = status.domain() == Domain::kUser || status.domain() == Domain::kData;
  return by_rows ? ExitCode::kData : ExitCode::kInternal;
}

}  // namespace caudal
