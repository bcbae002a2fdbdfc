// SQLite's result codes as Status: whose fault it is and whether to try again. Internal to db/.
#pragma once

#include <string>

#include "base/status.h"

struct sqlite3;

namespace caudal {

// `database` tells the details and may be null.
Status SqliteError(int code, sqlite3* database, const std::string& path);

}  // namespace caudal
