// RecordFraming: cuts the bytes of a file into records: lines, or JSON objects that may stretch over lines.
//
// JSON: most records are a line, which is told by a glance at its ends. An object whose line does not end it
// goes on over line breaks until its bracket closes ("pretty printed"). A broken one must not swallow the
// good ones behind it: when an open object meets what cannot be its continuation (a line break inside a
// string, a bracket that does not match, a line that starts with '{' where no value may stand, the file's
// end, more than kMaxObjectBytes), the record ends before the first later line that starts with '{' at its
// very beginning, and reading goes on there. The broken piece stays a record, so that it is counted.
//
// One thread; keeps nothing between calls.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace caudal {

class RecordFraming {
 public:
  enum class Kind { kLines, kJson };
  static constexpr size_t kMaxObjectBytes = 1 << 20;  // of an object that stretches over lines

  explicit RecordFraming(Kind kind) : kind_(kind) {}

  // Appends the records of `text`, byte for byte but for the line breaks around them: blanks on a record's
  // own lines are part of it. Of JSON, blank lines are left out. Returns how many bytes are done with; the
  // rest is to stand at the start of the next text. `last`: nothing follows.
  size_t Split(std::string_view text, bool last, std::vector<std::string_view>* records);

 private:
  enum class Scan { kComplete, kBroken, kNeedsMore };

  size_t SplitLines(std::string_view text, bool last, std::vector<std::string_view>* records);
  size_t SplitJson(std::string_view text, bool last, std::vector<std::string_view>* records);
  // Looks for the end of the object at `start`; `end`: behind it, or where it broke.
  Scan ScanObject(std::string_view text, size_t start, size_t* end);

  Kind kind_;
  std::string open_;  // brackets that are open, while scanning
};

}  // namespace caudal
