// The words of `caudal table …`.
#pragma once

#include "server/cli/usage/command.h"

namespace caudal {

void AddTable(CLI::App& app, Action* action);

}  // namespace caudal
