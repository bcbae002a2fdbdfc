// caudal rebuild: a table made anew by its query on a branch, from the first row of the table before it, and
// the live query put in its place; and back.
#pragma once

#include <string>
#include <vector>

#include "server/cli/console/console.h"

namespace caudal {

struct RebuildCommand {
  std::string program, profile;
  std::string target;      // a layer of the pipeline file, or a table
  std::string from;        // the table that is read, or its layer or database
  std::string state_root;  // of the live run
  std::string until_idle = "5 s";
  std::string keep = "7 d";      // how long the former history can be gone back to
  bool anyway = false;           // what others wrote to the table may go
  std::vector<std::string> set;  // as of `caudal run`
  enum class Step { kReplay, kCutOver, kRollBack, kDiscard } step = Step::kReplay;
};

int Rebuild(const RebuildCommand& command, Console& console);

}  // namespace caudal
