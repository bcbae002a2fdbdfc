// SET 'key' = 'value': which settings exist.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"

namespace caudal::sql {

// Those that change what caudal does.
std::span<const std::string_view> SettingNames();

// User error for a key that neither Flink nor caudal knows, for one that changes results and is not built,
// and for a value of the wrong kind.
Status CheckSetting(std::string_view key, std::string_view value);

}  // namespace caudal::sql
