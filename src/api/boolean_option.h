// BooleanOption: what an option of type boolean says; whatever the case of its word, as in Flink.
//
// A free function, any thread. REQUIRES: ValidateOptions has taken the table.
#pragma once

#include <algorithm>
#include <string_view>

#include "api/table.h"

namespace caudal {

inline bool BooleanOption(const Table& table, std::string_view option, bool fallback = false) {
  std::string_view text = table.option(option, fallback ? "true" : "false");
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  constexpr std::string_view kTrue = "true";
  return std::equal(text.begin(), text.end(), kTrue.begin(), kTrue.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

}  // namespace caudal
