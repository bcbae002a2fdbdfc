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
  std::string older_than;  // expire, orphans: a length of time; empty: what the table says, three days
  int keep_last = 0;       // expire: snapshots of each branch; 0: what the table says
  bool dry = false;        // expire: only say what would go
  bool remove = false;     // orphans: do it
};

// Every promise of the format; exit 4 when one is broken.
int CheckTables(const TableCommand& command, Console& console);
// Old snapshots go, and the files that only they had.
int ExpireTables(const TableCommand& command, Console& console);
// Files that nothing in the table names: listed, or removed.
int FindTableOrphans(const TableCommand& command, Console& console);
// Many small manifests as few.
int RewriteTableManifests(const TableCommand& command, Console& console);

}  // namespace caudal
