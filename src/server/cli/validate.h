// caudal validate: checks a pipeline file and its SQL and says what would run; starts nothing.
#pragma once

#include <string>

#include "server/cli/console/console.h"

namespace caudal {

// `profile`: of a pipeline file; empty = none.
int Validate(const std::string& path, const std::string& profile, Console& console);

}  // namespace caudal
