// KeyPlaces: what one task's epoch did to keys, as a file of the checkpoint: run by run, ascending, the place
// of each key's row in the epoch's data files, or that it is gone. docs/formats/key-places.md.
//
// Pure functions but for the file; any thread; block.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "fs/file_system.h"
#include "iceberg/index/key_hash.h"

namespace caudal {

// Names the file in a committable.
struct KeyPlacesFile {
  std::string path;
  int64_t bytes = 0;
  uint32_t checksum = 0;  // CRC32C of all of it
};

using KeyRun = std::vector<iceberg::IndexEntry>;

// Durable on return; replaces a file of this name.
Result<KeyPlacesFile> WriteKeyPlaces(FileSystem* files, const std::string& path,
                                     const std::vector<KeyRun>& runs);
// Appends the entries of all runs, in their order; how many runs there were. Data error if the file is gone
// or is another one.
Result<size_t> ReadKeyPlaces(FileSystem* files, const KeyPlacesFile& file, KeyRun* entries);

}  // namespace caudal
