#include "server/state_place.h"

#include <cctype>

#include "fs/file_path.h"

namespace caudal {

std::string LocalStateFolder(const std::string& state) {
  if (SchemeOf(state).empty()) return state;
  std::string folder = "caudal-state/";
  for (const char c : AbsolutePath(state)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (plain || !folder.ends_with('-')) folder += plain ? c : '-';
  }
  return folder;
}

}  // namespace caudal
