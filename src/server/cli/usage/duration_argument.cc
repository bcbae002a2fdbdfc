#include "server/cli/usage/duration_argument.h"

#include <fmt/format.h>

#include "api/connector.h"

namespace caudal {

Result<int64_t> ParseDurationArgument(const std::string& text, const std::string& option) {
  const Result<int64_t> millis = ParseDurationMillis(text);
  if (!millis.ok()) return millis.status().At(option).Hint(fmt::format("write {} '1 s'", option));
  if (text.find_first_not_of("0123456789 ") == std::string::npos) {
    return Status::User(fmt::format("'{}' has no unit", text))
        .At(option)
        .Hint(fmt::format("write {} '{} s' for seconds, or min, ms", option, text));
  }
  return *millis;
}

}  // namespace caudal
