// PathPattern: which files of a folder a table reads: those whose whole absolute path a regular expression
// matches, as option 'source.path.regex-pattern' of Flink says.
//
// A value; Matches may be called from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace re2 {
class RE2;
}

namespace caudal {

class PathPattern {
 public:
  PathPattern();  // every file
  // User error if `text` is no regular expression; an empty one matches every file.
  static Result<PathPattern> Make(std::string_view text);
  PathPattern(PathPattern&& other) noexcept;
  PathPattern& operator=(PathPattern&& other) noexcept;
  ~PathPattern();

  // `path`: absolute or relative to the process.
  bool Matches(const std::string& path) const;

 private:
  std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace caudal
