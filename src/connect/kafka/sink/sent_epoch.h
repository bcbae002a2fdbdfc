// SentEpoch: the last epoch that was sent to a target which keeps no ledger, in a file of the checkpoint.
//
// Written after the target has acknowledged the epoch and before its segments are removed: an epoch whose
// segments are gone was sent. Between acknowledgement and note a crash sends it again (at least once). The
// file is "CDLSENT1 <generation>-<number>\n", replaced as a whole. Calls block; one thread.
#pragma once

#include <string>

#include "base/status.h"
#include "data/message.h"
#include "fs/file_system.h"

namespace caudal {

class SentEpoch {
 public:
  SentEpoch(FileSystem* files, std::string path) : files_(files), path_(std::move(path)) {}

  // {0, 0}: none was noted.
  Result<Epoch> Read() const;
  Status Note(const Epoch& epoch);

 private:
  FileSystem* files_;
  std::string path_;
};

}  // namespace caudal
