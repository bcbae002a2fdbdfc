// BranchNote: the newest epoch that this sink committed to a branch, as a file of the checkpoint.
//
// A branch that is dropped or expires takes the epochs that only it had with it, and is made anew by the next
// commit as if nothing had been. Only what is kept here tells. Of 'main', which is never gone, nothing is
// noted. One thread.
#pragma once

#include <optional>
#include <string>

#include "api/sink.h"
#include "fs/file_system.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal {

class BranchNote {
 public:
  // In `folder`, which is there; `files` outlives it.
  BranchNote(FileSystem* files, const std::string& folder) : files_(files), path_(folder + "/branch") {}

  // User error if the history of `branch`, in which `newest` is the sink's newest epoch ({0, 0}: it has
  // none), lacks the epoch that was noted. A history that does not go back to the table's beginning tells
  // nothing. If the catalog `may_lag`, as a service with copies of itself, metadata that is older than the
  // note is an External error (backoff).
  Status Check(const iceberg::TableMetadata& table, const std::string& branch, Epoch newest, bool may_lag);
  // Durable on return. `sequence_number`: of the snapshot that has the epoch.
  Status Note(const std::string& branch, Epoch epoch, int64_t sequence_number);

 private:
  struct Noted {
    std::string branch;  // empty: none
    Epoch epoch;
    int64_t sequence_number = 0;
  };
  Status Load();

  FileSystem* files_;
  std::string path_;
  std::optional<Noted> noted_;  // nothing: not read yet
};

}  // namespace caudal
