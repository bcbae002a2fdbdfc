#include "connect/filesystem/file_listing.h"

#include <algorithm>

namespace caudal {
namespace {

bool Counts(std::string_view name) { return !name.empty() && name[0] != '.' && name[0] != '_'; }

Status ListBelow(FileSystem* files, const std::string& folder, const std::string& prefix,
                 std::vector<ListedFile>* out) {
  ASSIGN_OR_RETURN(std::vector<FileInfo> entries, files->List(folder));
  for (FileInfo& entry : entries) {
    const std::string name = entry.path.substr(entry.path.find_last_of('/') + 1);
    if (!Counts(name)) continue;
    if (entry.is_directory) {
      RETURN_IF_ERROR(ListBelow(files, entry.path, prefix + name + "/", out));
    } else {
      out->push_back({prefix + name, std::move(entry)});
    }
  }
  return Status();
}

}  // namespace

Result<std::vector<ListedFile>> ListFiles(FileSystem* files, const std::string& root) {
  std::vector<ListedFile> found;
  ASSIGN_OR_RETURN(const bool exists, files->Exists(root));
  if (!exists) return found;
  ASSIGN_OR_RETURN(FileInfo info, files->Stat(root));
  if (!info.is_directory) {
    found.push_back({root.substr(root.find_last_of('/') + 1), std::move(info)});
    return found;
  }
  RETURN_IF_ERROR(ListBelow(files, root, "", &found));
  std::sort(found.begin(), found.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.name < b.name; });
  return found;
}

int SplitOfFile(std::string_view name, int splits) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return static_cast<int>(hash % static_cast<uint64_t>(splits));
}

}  // namespace caudal
