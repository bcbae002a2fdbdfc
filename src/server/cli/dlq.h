// caudal dlq ls, show: the rows that a program's queries kept aside, read from its dead-letter table.
#pragma once

#include <string>

#include "server/cli/console/console.h"

namespace caudal {

struct DlqCommand {
  std::string program;      // pipeline file or script that declares the table
  std::string profile;      // of the pipeline file
  std::string error_class;  // show: only this class
  int limit = 20;           // show: at most so many rows
};

int ListDeadLetters(const DlqCommand& command, Console& console);
int ShowDeadLetters(const DlqCommand& command, Console& console);

}  // namespace caudal
