#include "connect/filesystem/file_listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "connect/filesystem/name_digest.h"

namespace caudal {
namespace {

bool Counts(std::string_view name) { return !name.empty() && name[0] != '.' && name[0] != '_'; }

using FolderPath = std::vector<std::pair<uint64_t, uint64_t>>;  // device and identity, outermost first

void Leave(const FileInfo& info, std::string_view what, FileListing* out) {
  out->unreadable.push_back(fmt::format("'{}' is {}", info.path, what));
}

// A folder that was moved or renamed changes, and is not modified; then its files came with it.
int64_t MovedMicros(const FileInfo& folder) {
  return folder.changed_micros > folder.modified_micros ? folder.changed_micros : 0;
}

// `moved`: when a folder around these files was moved last. `above`: the folders on the way to `folder`, so
// that a link back to one of them is not followed for ever.
Status ListBelow(FileSystem* files, const FileInfo& folder, const std::string& prefix, int64_t moved,
                 FolderPath* above, FileListing* out) {
  const std::pair<uint64_t, uint64_t> self{folder.device, folder.identity};
  if (self.second != 0 && std::find(above->begin(), above->end(), self) != above->end()) {
    Leave(folder, "a link to a folder that it stands in", out);
    return Status();
  }
  above->push_back(self);
  ASSIGN_OR_RETURN(std::vector<FileInfo> entries, files->List(folder.path));
  for (FileInfo& entry : entries) {
    const std::string name = entry.path.substr(entry.path.find_last_of('/') + 1);
    if (!Counts(name)) continue;
    if (entry.is_directory) {
      RETURN_IF_ERROR(
          ListBelow(files, entry, prefix + name + "/", std::max(moved, MovedMicros(entry)), above, out));
    } else if (!entry.unreadable.empty()) {
      Leave(entry, entry.unreadable, out);
    } else {
      entry.changed_micros = std::max(entry.changed_micros, moved);
      out->files.push_back({prefix + name, std::move(entry)});
    }
  }
  above->pop_back();
  return Status();
}

}  // namespace

Result<FileListing> ListFiles(FileSystem* files, const std::string& root) {
  FileListing found;
  ASSIGN_OR_RETURN(found.exists, files->Exists(root));
  if (!found.exists) return found;
  ASSIGN_OR_RETURN(FileInfo info, files->Stat(root));
  if (!info.unreadable.empty()) {
    Leave(info, info.unreadable, &found);
  } else if (!info.is_directory) {
    found.files.push_back({root.substr(root.find_last_of('/') + 1), std::move(info)});
  } else {
    FolderPath above;
    RETURN_IF_ERROR(ListBelow(files, info, "", 0, &above, &found));
  }
  std::sort(found.files.begin(), found.files.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.name < b.name; });
  return found;
}

int SplitOfFile(std::string_view name, int splits) {
  return static_cast<int>(HashOfName(name) % static_cast<uint64_t>(splits));
}

}  // namespace caudal
