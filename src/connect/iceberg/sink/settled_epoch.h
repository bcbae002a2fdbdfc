// SettledEpoch: the newest epoch that was committed without a snapshot, as a file of the checkpoint.
//
// An epoch that finds nothing to change leaves no token in the table. Only what is kept here tells whoever
// commits it again that it is done: later it might change what others have written since. One thread.
#pragma once

#include <string>

#include "api/sink.h"
#include "fs/file_system.h"

namespace caudal {

class SettledEpoch {
 public:
  // In `folder`, which is there; `files` outlives it.
  SettledEpoch(FileSystem* files, const std::string& folder) : files_(files), path_(folder + "/settled") {}

  // Whether the epoch, or a newer one, was noted: epochs are committed in order. Data error if the file is
  // damaged.
  Result<bool> Has(Epoch epoch) const;
  // Durable on return.
  Status Note(Epoch epoch) const;

 private:
  FileSystem* files_;
  std::string path_;
};

}  // namespace caudal
