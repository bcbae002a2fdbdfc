// caudal dlq: the rows that a program's queries kept aside, in tables of files or in topics: counted, shown,
// sent back to where they came from, or marked as dealt with.
#pragma once

#include <string>

#include "server/cli/console/console.h"
#include "server/cli/dead_letters/letter.h"

namespace caudal {

struct DlqCommand {
  std::string program;  // pipeline file or script that declares the table
  std::string profile;  // of the pipeline file
  int limit = 20;       // show: at most so many rows
  LetterSelection selection;
  std::string since, until;  // of the selection, as they were typed
  std::string by;            // stats: "hour" or "day"; empty: not by time
  std::string reason;        // replay: may be empty; discard: may not
  bool all = false;          // replay, discard: without a selection
  bool dry = false;          // replay, discard: only say what would be done
};

int ListDeadLetters(const DlqCommand& command, Console& console);
int ShowDeadLetters(const DlqCommand& command, Console& console);
int CountDeadLetters(const DlqCommand& command, Console& console);
int ReplayDeadLetters(const DlqCommand& command, Console& console);
int DiscardDeadLetters(const DlqCommand& command, Console& console);

}  // namespace caudal
