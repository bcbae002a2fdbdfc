// SqlPosition: where something stands in the SQL that a user wrote.
//
// The one carrier of places in SQL from binding to run time: expressions and plan nodes keep it, so that an
// error can point at its file and line when the text itself is long gone. Plain data, no thread rule.
#pragma once

#include <cstdint>
#include <string>

namespace caudal {

struct SqlPosition {
  int32_t offset = -1;    // in bytes from the start of the script; -1 = made by the planner
  int32_t line = 1;       // from 1
  int32_t column = 1;     // from 1, in code points
  std::string file = {};  // empty: a script without a name

  bool known() const { return offset >= 0; }
  // "job.sql, line 3, column 10", or "line 3, column 10". REQUIRES: known().
  std::string ToString() const {
    return (file.empty() ? "" : file + ", ") + "line " + std::to_string(line) + ", column " +
           std::to_string(column);
  }
};

}  // namespace caudal
