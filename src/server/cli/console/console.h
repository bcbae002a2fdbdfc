// Console: where a command writes: results to standard output, notes, progress and errors to standard error.
//
// Everything that leaves through it has its secrets masked. With --json results and errors are JSON, one
// object a line, and nothing else is printed. One a process, used by one thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/status.h"
#include "server/cli/console/exit_code.h"

namespace caudal {

class Console {
 public:
  // The streams outlive the console.
  Console(std::FILE* out, std::FILE* err);

  bool json = false;
  bool out_is_terminal() const { return out_is_terminal_; }
  bool shows_progress() const { return err_is_terminal_ && !json; }

  // Results. `text` is whole lines.
  void Out(std::string_view text);
  // A line for people on standard error; nothing with --json.
  void Note(std::string_view line);
  // For people or, with --json, for programs: a line on standard error either way.
  void Remark(std::string_view line, std::string_view as_json);
  // A line that the next one, or anything else printed, replaces. Only on a terminal.
  void Progress(std::string_view line);
  // Prints the error and returns the code to exit with.
  int Fail(const Status& status, ExitCode code);
  // Everything printed so far leaves; says why some of it is lost. That nobody reads any more is no loss.
  Status Flush();
  // The end of a command: the code to exit with, which tells of lost output.
  int Finish(int code);

 private:
  void ClearProgress();

  std::FILE* out_;
  std::FILE* err_;
  bool out_is_terminal_;
  bool err_is_terminal_;
  bool progress_shown_ = false;
  int out_error_ = 0;  // errno of the first write that failed
};

// 1234567 as "1,234,567".
std::string GroupDigits(int64_t number);

}  // namespace caudal
