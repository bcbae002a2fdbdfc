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
  bool dry = false;        // expire, compact: only say what would be done
  bool remove = false;     // orphans: do it
  // compact: sizes as text, empty: what the table says; the rest as PlanCompaction has it.
  std::string target_size, min_size, max_size;
  int64_t min_input_files = 5;
  int64_t delete_files = 10;
  double delete_ratio = 0.3;
  bool rewrite_all = false;
  int64_t max_commits = 10;
  int threads = 0;  // compact: 0: one a core
};

// What becomes of one branch or tag.
struct RefCommand {
  TableCommand on;
  std::string table;  // the one that is meant; empty: those of `on`
  std::string type;   // "branch", "tag"
  std::string name;
  std::string to;    // fast-forward: the ref whose head it is moved to
  std::string from;  // create: the ref where it begins; empty: 'main'
  int64_t snapshot_id = 0;
  bool empty = false;  // create: without rows
  // create: how long expiry keeps it, and of its snapshots; empty, 0: what the table says.
  std::string max_ref_age, max_snapshot_age;
  int keep_last = 0;
};

// Every promise of the format; exit 4 when one is broken.
int CheckTables(const TableCommand& command, Console& console);
// Old snapshots go, and the files that only they had.
int ExpireTables(const TableCommand& command, Console& console);
// Small data files, and those with many deleted rows, as few whole ones.
int CompactTables(const TableCommand& command, Console& console);
// Files that nothing in the table names: listed, or removed.
int FindTableOrphans(const TableCommand& command, Console& console);
int CreateTableRef(const RefCommand& command, Console& console);
int DropTableRef(const RefCommand& command, Console& console);
int ListTableRefs(const RefCommand& command, Console& console);
int FastForwardTable(const RefCommand& command, Console& console);
// Many small manifests as few.
int RewriteTableManifests(const TableCommand& command, Console& console);

}  // namespace caudal
