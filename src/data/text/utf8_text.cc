#include "data/text/utf8_text.h"

#include <fmt/format.h>
#include <simdjson.h>

namespace caudal {

bool IsUtf8(std::string_view bytes) { return simdjson::validate_utf8(bytes.data(), bytes.size()); }

std::string NotOfColumn(std::string_view column, std::string_view bytes, const Type& type) {
  if (IsUtf8(bytes)) return fmt::format("column '{}': '{}' is not a {}", column, bytes, type.ToString());
  return fmt::format("column '{}': bytes that are not UTF-8 are not a {}", column, type.ToString());
}

}  // namespace caudal
