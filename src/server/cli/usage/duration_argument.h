// A length of time on a command line. A pure function; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace caudal {

// In milliseconds; User error at `option` for what is none, and for a number without a unit: who writes 5 may
// mean seconds, and tables' options mean milliseconds by it.
Result<int64_t> ParseDurationArgument(const std::string& text, const std::string& option);

}  // namespace caudal
