// SchemeFileSystem: the file system that a path's scheme names, and another one for paths without.
//
// What it is given outlives it. Any thread. A path cannot be renamed from one file system to another.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fs/store_file_system.h"

namespace caudal {

class SchemeFileSystem : public StoreFileSystem {
 public:
  // By scheme: "s3".
  SchemeFileSystem(FileSystem* local, std::map<std::string, FileSystem*, std::less<>> others)
      : local_(local), others_(std::move(others)) {}

  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override;
  Result<bool> CreateIfAbsent(const std::string& path, std::string_view bytes) override;
  Result<std::unique_ptr<RandomAccessFile>> Open(const std::string& path) override;
  Result<std::string> ReadAll(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Result<bool> RenameIfAbsent(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status MakeDirectories(const std::string& path) override;
  Result<std::vector<FileInfo>> List(const std::string& path) override;
  Result<FileInfo> Stat(const std::string& path) override;
  Result<bool> Exists(const std::string& path) override;
  PendingFiles* pending(const std::string& path) override;
  Status Replace(const std::string& path, std::string_view bytes) override;
  Result<FileSystem*> WithOptions(const FileOptions&) override { return this; }
  FileSystem* WithGrant(const std::string&, AskForGrant) override { return this; }

 private:
  // User error for a scheme that nobody knows.
  Result<FileSystem*> Of(const std::string& path) const;

  FileSystem* local_;
  std::map<std::string, FileSystem*, std::less<>> others_;
};

}  // namespace caudal
