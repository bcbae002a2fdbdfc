// The connectors that a user gets, in one list.
#pragma once

#include <span>

#include "api/connector.h"

namespace caudal {

// Constants that live as long as the process. Each sees the values of ${env:NAME} in its options, which
// catalog, EXPLAIN and manifests only know by name.
std::span<const Connector* const> UserConnectors();

}  // namespace caudal
