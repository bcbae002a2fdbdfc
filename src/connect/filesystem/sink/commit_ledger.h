// CommitLedger: which epoch of a file sink is committed: a hidden file in the table's folder.
//
// Finished files belong to their readers, who may move or delete them; so when a commit is repeated after a
// restart, that they are gone means nothing if the ledger has the epoch. Written after the last rename of an
// epoch, by the coordinator's thread; in a store, where names have no epochs, before the first one too. Form
// in docs/formats/file-committable.md.
#pragma once

#include <string>

#include "base/status.h"
#include "data/message.h"
#include "fs/file_system.h"

namespace caudal {

class CommitLedger {
 public:
  // `files` outlives the ledger; `path`: of its file.
  CommitLedger(FileSystem* files, std::string path) : files_(files), path_(std::move(path)) {}

  // The newest epoch that is committed; {0, 0} if there is no ledger, or none that this caudal can read.
  Result<Epoch> Read();
  // The newest of which files may have their names, committed or not; the same.
  Result<Epoch> Newest();
  // Both keep the newer of `epoch` and what stands there: a process of before may be late.
  Status Begin(Epoch epoch);
  Status Write(Epoch epoch);

 private:
  struct Noted {
    Epoch committed, begun;
  };
  Result<Noted> ReadBoth();
  Status WriteBoth(const Noted& noted);

  FileSystem* files_;
  std::string path_;
};

}  // namespace caudal
