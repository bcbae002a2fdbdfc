// LocalError: the Status of a failed POSIX call: whose fault, which path, what to do, whether waiting helps.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace caudal {

// `action`: what was tried, as in "cannot <action> '<path>'". `error`: errno.
Status LocalError(std::string_view action, const std::string& path, int error);

}  // namespace caudal
