// ParseJsonDocument: JSON text that nobody vouches for (a table's metadata, an Avro schema, a catalog's
// answer) as a tree.
//
// A pure function; any thread. What it gives is no deeper than kMaxJsonDepth, so that whoever walks it by
// recursion, nlohmann's own dump() included, stays within its stack.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/status.h"

namespace caudal {

inline constexpr int kMaxJsonDepth = 256;

// The one document in `text`, members in the order they have there; of two with one name the last counts.
// Data error with the byte where it breaks.
Result<nlohmann::ordered_json> ParseJsonDocument(std::string_view text);

}  // namespace caudal
