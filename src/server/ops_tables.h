// The tables ops.* of a state folder, for caudal's SQL.
#pragma once

#include <string>

#include "api/catalog.h"

namespace caudal {

// User error when the folder has no operations store.
Status AddOpsTables(const std::string& state_root, Catalog* catalog);

}  // namespace caudal
