// caudal table …: maintenance of the Iceberg tables of a program.
#pragma once

#include <string>
#include <vector>

#include "server/cli/console/console.h"

namespace caudal {

struct TableCommand {
  std::string program;              // pipeline file or script that declares the tables or their catalog
  std::string profile;              // of the pipeline file
  std::vector<std::string> tables;  // empty: every Iceberg table that the program declares or writes
  bool all = false;                 // check: every violation, not the first alone
};

// Every promise of the format; exit 4 when one is broken.
int CheckTables(const TableCommand& command, Console& console);

}  // namespace caudal
