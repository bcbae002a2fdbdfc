#include "base/durable_name.h"

#include <fmt/format.h>

#include <charconv>

namespace caudal {

std::string ToDurableName(std::string_view path) {
  std::string text;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    byte >= 0x80 || c == '%' ? text.append(fmt::format("%{:02x}", byte)) : text.append(1, c);
  }
  return text;
}

std::string FromDurableName(std::string_view text) {
  std::string path;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      path.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      path.push_back(text[i]);
    }
  }
  return path;
}

}  // namespace caudal
