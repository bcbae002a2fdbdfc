// A path as text that is UTF-8 whatever the path is, for what a manifest keeps of it: JSON cannot hold other
// bytes.
#pragma once

#include <string>
#include <string_view>

namespace caudal {

// Bytes of 128 and more, and '%', become "%c3"; all others stay.
std::string ToDurableName(std::string_view path);
std::string FromDurableName(std::string_view text);

}  // namespace caudal
