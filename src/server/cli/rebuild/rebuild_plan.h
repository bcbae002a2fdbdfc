// RebuildPlan: the query that a rebuild is of, and all names that belong to it; or why it cannot be.
//
// Plain data, owned by the command.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/cli/lake/lake_table.h"
#include "server/program.h"

namespace caudal {

struct RebuildPlan {
  std::string query;  // as the plan has it
  std::string shown;  // pipeline/query
  LakeTable target;
  std::string branch;                // that is rebuilt: the one that the live query writes
  std::string rebuilt;               // the branch that the rebuild writes
  std::string kept;                  // the branch that what was left stays as
  std::vector<std::string> readers;  // queries of the program that read the target as it grows

  // Folders: of checkpoints, below the state folder.
  std::string live, made, left, undone;  // of the query: live, rebuilt, left at the cut-over, at going back
  std::string made_root;                 // a state folder of its own
  std::string journal;                   // of a cut-over or its way back that is not complete

  // User error with the reason why the target cannot be rebuilt so. `from` empty: nothing is to be read.
  static Result<RebuildPlan> Make(const Program& program, const std::string& target, const std::string& from,
                                  const std::string& state_root);
  // User error if the branch has commits that are not the query's: what others wrote is not rebuilt.
  Status CheckAlone(const iceberg::TableMetadata& table) const;
};

// "catalog.database.table" of an Iceberg table, whatever the script calls it; else the table's name.
std::string LakeName(const Table& table);

}  // namespace caudal
