// RunLog: what happened to a run, one key=value line an event, in <state>/caudal.log.
//
// Supervisor and child both append; a line is one write, so lines never mix. Any thread. Secrets are masked.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace caudal {

class RunLog {
 public:
  explicit RunLog(const std::string& state_root);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  // "event=commit query=bank/silver epoch=4"; time and process id are put before it. A disk that refuses the
  // line does not stop the run, and one that refuses the file is asked again with the next line.
  void Write(std::string_view line);

  // A value that may hold blanks, in quotes, on one line.
  static std::string Quoted(std::string_view value);

 private:
  int File();

  const std::string path_;
  std::mutex mutex_;
  int file_ = -1;  // set once
};

}  // namespace caudal
