#include "connect/filesystem/path_pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "fs/file_path.h"

namespace caudal {

PathPattern::PathPattern() = default;
PathPattern::PathPattern(PathPattern&& other) noexcept = default;
PathPattern& PathPattern::operator=(PathPattern&& other) noexcept = default;
PathPattern::~PathPattern() = default;

Result<PathPattern> PathPattern::Make(std::string_view text) {
  PathPattern pattern;
  if (text.empty()) return pattern;
  RE2::Options options;
  options.set_log_errors(false);
  pattern.compiled_ = std::make_unique<re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
  if (!pattern.compiled_->ok()) {
    return Status::User(fmt::format("'{}' is no regular expression: {}", text, pattern.compiled_->error()))
        .Hint("it is matched against whole absolute paths, as in '/data/in/.*[.]ndjson'");
  }
  return pattern;
}

bool PathPattern::Matches(const std::string& path) const {
  if (compiled_ == nullptr) return true;
  return re2::RE2::FullMatch(AbsolutePath(path), *compiled_);
}

}  // namespace caudal
