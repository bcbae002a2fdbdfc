// caudal run: runs pipelines and scripts in one process until they are stopped or their bounded input ends.
#pragma once

#include <string>
#include <vector>

#include "server/cli/console/console.h"
#include "server/run_options.h"

namespace caudal {

struct RunCommand {
  RunOptions options;
  std::string listen;            // host:port
  std::string until_idle;        // "3 s"
  std::string memory;            // "2 GB"
  std::vector<std::string> set;  // "execution.checkpointing.interval=1 s"
};

int Run(RunCommand command, Console& console);

}  // namespace caudal
