// The command line: which command, with which options. The only file that knows CLI11 is its .cc.
#pragma once

namespace caudal {

// What main does: parses, runs the command, returns the exit code (exit_code.h).
int RunCommandLine(int argc, char** argv);

}  // namespace caudal
