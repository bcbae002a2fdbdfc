// caudal functions: the reference of all functions, from their own descriptions.
#pragma once

#include <string>

#include "server/cli/console/console.h"

namespace caudal {

struct FunctionsCommand {
  std::string name;       // only those whose name contains it
  bool markdown = false;  // as the page docs/functions.md
};

int PrintFunctions(const FunctionsCommand& command, Console& console);

}  // namespace caudal
