// The files of a table's folder: which count, in what order, and which split each belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "fs/file_system.h"

namespace caudal {

struct ListedFile {
  std::string name;  // relative to the table's folder: what orders the files of a split
  FileInfo info;     // `changed_micros`: when it came under this name, if a folder around it was moved
};

struct FileListing {
  std::vector<ListedFile> files;  // in the order of their relative names
  // What has a data file's name and cannot be read as one, with what it is: "'/in/x.json' is a pipe".
  std::vector<std::string> unreadable;
  bool exists = false;  // the folder, or the file
};

// Every file below `root` (or `root` itself, if it is a file), links followed. Names that begin with '.' or
// '_' are left out, files and folders alike: others are still writing them.
Result<FileListing> ListFiles(FileSystem* files, const std::string& root);

// The split of a file among `splits`: FNV-1a of the name, the same for ever.
int SplitOfFile(std::string_view name, int splits);

}  // namespace caudal
