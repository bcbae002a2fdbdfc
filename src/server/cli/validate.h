// caudal validate: checks pipeline files and their SQL and says what would run; starts nothing.
#pragma once

#include <string>
#include <vector>

#include "server/cli/console/console.h"

namespace caudal {

// As the programs of one run. `profile`: of each pipeline file; empty = none.
int Validate(const std::vector<std::string>& paths, const std::string& profile, Console& console);

}  // namespace caudal
