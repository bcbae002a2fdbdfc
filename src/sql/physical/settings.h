// SET 'key' = 'value': the settings that exist and what each may be.
//
// One table, in settings.cc, says all of it; docs/settings.md is tested against it. Constants of the process.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal::sql {

struct Setting {
  enum class Kind : uint8_t { kBoolean, kInteger, kDuration, kBytes, kWord, kZone, kText };
  enum class Role : uint8_t {
    kRead,     // changes what caudal does
    kIdle,     // of Flink, cannot change results, and means nothing here
    kUnbuilt,  // of Flink, changes results, is not built: only its default is taken
  };
  std::string_view key;  // a trailing '*' stands for any suffix
  Role role = Role::kRead;
  Kind kind = Kind::kText;
  std::string_view default_value;
  std::string_view doc;
  std::string_view words = "";  // kWord: the values, by '|', in the letters that caudal uses
  int64_t least = 0;            // kInteger
  int64_t most = INT64_MAX;
};

std::span<const Setting> Settings();
// Null if nobody knows the key.
const Setting* FindSetting(std::string_view key);

// The value as it is kept: words and booleans in any letters, as in Flink. User error for an unknown key, a
// value that the setting cannot have, and one that is not built.
Result<std::string> CheckSetting(std::string_view key, std::string_view value);

}  // namespace caudal::sql
