// caudal sql: runs a statement or a script here and now, on files and databases, and prints what it gives.
#pragma once

#include <string>

#include "server/cli/console/console.h"

namespace caudal {

struct SqlCommand {
  std::string statement;  // the text, a script file, or "-" for standard input
  std::string deadline;   // how long each SELECT may take; empty = as long as it likes
  std::string ops;        // state folder whose ops.* tables the statement may read
};

int RunSql(const SqlCommand& command, Console& console);

}  // namespace caudal
