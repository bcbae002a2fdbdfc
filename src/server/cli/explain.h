// caudal explain: the plans of a script or pipeline, without running them.
#pragma once

#include <string>

#include "server/cli/console/console.h"

namespace caudal {

struct ExplainCommand {
  std::string path;        // pipeline file or script; or the statement itself
  std::string profile;     // of the pipeline file
  bool changelog = false;  // with the changelog mode of each node
};

int Explain(const ExplainCommand& command, Console& console);

}  // namespace caudal
