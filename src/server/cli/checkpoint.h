// caudal checkpoint ls, show, verify, diff: looks into the checkpoints of a state folder; opens and changes
// nothing.
#pragma once

#include <string>

#include "server/cli/console/console.h"

namespace caudal {

struct CheckpointCommand {
  std::string state_root;
  std::string query;    // pipeline/query; empty = every query
  std::string program;  // diff: the pipeline file or script to compare with
  std::string profile;  // of that pipeline file
};

int ListCheckpoints(const CheckpointCommand& command, Console& console);
// The newest manifest, in words.
int ShowCheckpoint(const CheckpointCommand& command, Console& console);
// Reads every manifest and segment; exit 4 when one is damaged.
int VerifyCheckpoints(const CheckpointCommand& command, Console& console);
// What a start of the program would keep, add and refuse.
int DiffCheckpoint(const CheckpointCommand& command, Console& console);

}  // namespace caudal
