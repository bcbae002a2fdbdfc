// caudal validate: checks a pipeline file and its SQL and says what would run; starts nothing.
#pragma once

#include <string>

#include "server/cli/console/console.h"

namespace caudal {

int Validate(const std::string& path, Console& console);

}  // namespace caudal
