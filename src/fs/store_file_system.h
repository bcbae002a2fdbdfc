// StoreFileSystem: a FileSystem of which a part or all is an object store, where a rename is not one step;
// and how to do with any FileSystem what there is done otherwise.
//
// Any thread; blocks.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "fs/file_system.h"
#include "fs/pending_files.h"

namespace caudal {

using FileOptions = std::map<std::string, std::string, std::less<>>;

// What another service lets this process do in a store, for a time.
struct FileGrant {
  FileOptions options;         // 's3.*'; without keys among them those of the environment are taken
  int64_t expires_millis = 0;  // wall clock; 0: it does not
};
using AskForGrant = std::function<Result<FileGrant>()>;  // any thread, one call at a time; may block

class StoreFileSystem : public FileSystem {
 public:
  // How a file at `path` gets its name at a commit; null: Rename is one step there.
  virtual PendingFiles* pending(const std::string& path) = 0;
  virtual Status Replace(const std::string& path, std::string_view bytes) = 0;
  virtual Result<FileSystem*> WithOptions(const FileOptions& options) = 0;
  virtual FileSystem* WithGrant(const std::string& name, AskForGrant ask) = 0;
};

// Null: Rename is one step.
PendingFiles* PendingFilesAt(FileSystem* files, const std::string& path);
// Whole file, durable: whoever reads it finds what was there before, or all of `bytes`.
Status ReplaceFile(FileSystem* files, const std::string& path, std::string_view bytes);
// `files`, but where and as whom a table's options ('s3.endpoint', …) say; lives as long as `files`, which
// without such options it is. User error for options that make no sense.
Result<FileSystem*> FilesWithOptions(FileSystem* files, const FileOptions& options);
// `files`, but in stores as a grant says, which is asked for when a file of one is first wanted, and again
// before it runs out and when it is refused. Of one `name` there is one, whoever comes with it first; it
// lives as long as `files`.
FileSystem* FilesWithGrant(FileSystem* files, const std::string& name, AskForGrant ask);

}  // namespace caudal
