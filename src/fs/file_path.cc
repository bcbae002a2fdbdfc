#include "fs/file_path.h"

#include <cctype>
#include <filesystem>

namespace caudal {

std::string_view SchemeOf(std::string_view path) {
  const size_t colon = path.find("://");
  if (colon == std::string_view::npos || colon < 2) return {};
  for (const char c : path.substr(0, colon)) {
    if (!std::isalnum(static_cast<unsigned char>(c))) return {};
  }
  return path.substr(0, colon);
}

std::string AbsolutePath(const std::string& path) {
  if (SchemeOf(path).empty()) return std::filesystem::absolute(path).lexically_normal().string();
  std::string same = path;
  while (same.ends_with('/')) same.pop_back();
  return same;
}

}  // namespace caudal
