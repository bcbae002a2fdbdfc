// PendingFiles: files that get their names at a commit, where a file system cannot rename: what is written is
// kept by the store, whole and durable but under no name, until whoever has its ticket publishes it.
//
// Any thread; blocks. A ticket is good in any process, and after any crash.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "fs/file_system.h"

namespace caudal {

// Dropping it before Close gives it up; after Close it waits for Publish or Abort.
class PendingFile : public WritableFile {
 public:
  // REQUIRES: Close returned OK.
  virtual std::string ticket() const = 0;
};

enum class PublishOutcome {
  kPublished,  // it has its name, by this call or one before
  kTaken,      // another file has it
  kGone,       // it was given up, and no file has its name
};

struct UnpublishedFile {
  std::string path;    // that it is to get
  std::string handle;  // for Abort
};

class PendingFiles {
 public:
  virtual ~PendingFiles() = default;
  virtual Result<std::unique_ptr<PendingFile>> Begin(const std::string& path) = 0;
  // May be repeated. REQUIRES: `ticket` is of the file that was begun for `path`.
  virtual Result<PublishOutcome> Publish(const std::string& path, const std::string& ticket) = 0;
  // All that wait below a folder, at any depth.
  virtual Result<std::vector<UnpublishedFile>> ListUnpublished(const std::string& folder) = 0;
  // OK if it is published or given up already.
  virtual Status Abort(const UnpublishedFile& file) = 0;
};

}  // namespace caudal
