// caudal version.
#pragma once

#include "server/cli/console/console.h"

namespace caudal {

int PrintVersion(Console& console);

}  // namespace caudal
