// ChildReport: what the engine's process tells its supervisor through a pipe: that it got on, and how it
// ended.
//
// Lines of JSON. The child writes, the supervisor reads until the pipe closes.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"

namespace caudal {

class ChildReport {
 public:
  // The child's end; `file` stays the caller's.
  explicit ChildReport(int file) : file_(file) {}
  void Progress();                                      // an epoch was committed
  void Ended(const Status& status, bool before_start);  // the last line

  // What the supervisor made of all lines.
  struct Summary {
    bool progressed = false;
    bool ended = false;
    bool before_start = false;
    Status status;
  };
  static Summary Read(const std::string& lines);

 private:
  void Write(const std::string& line);
  int file_;
};

}  // namespace caudal
