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
  FileInfo info;
};

// Every file below `root` (or `root` itself, if it is a file) in the order of its relative name. Names that
// begin with '.' or '_' are left out, files and folders alike: others are still writing them.
Result<std::vector<ListedFile>> ListFiles(FileSystem* files, const std::string& root);

// The split of a file among `splits`: FNV-1a of the name, the same for ever.
int SplitOfFile(std::string_view name, int splits);

}  // namespace caudal
