// What an error that the server answers with is: whose fault, and whether it passes.
//
// Free functions; any thread.
#pragma once

#include <string_view>

#include "base/status.h"

namespace caudal {

// External with Retry::kBackoff: the server is loading, full, a replica, … or says what we do not know, and
// it is tried again. User: it does not let us in, or was asked wrongly. Data: a key holds something else.
Status RedisError(std::string_view answer);

}  // namespace caudal
