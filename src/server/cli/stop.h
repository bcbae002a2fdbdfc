// caudal stop, status, checkpoint trigger: talk to the run that holds a state folder.
#pragma once

#include <string>

#include "server/cli/console/console.h"

namespace caudal {

struct StopCommand {
  std::string state_root;
  bool drain = false;  // close all windows and end for good; else a savepoint to go on from
  int timeout_seconds = 120;
};

int Stop(const StopCommand& command, Console& console);
// What runs on the state folder, or ran last.
int ShowStatus(const std::string& state_root, Console& console);
// Asks the run for an epoch now.
int TriggerCheckpoint(const std::string& state_root, Console& console);

}  // namespace caudal
