// LocalFileSystem: the FileSystem over POSIX calls. Reached through FileSystem::Local().
//
// Durable means fsync of the file and of the folder that names it. Stateless, so any thread may call it; a
// file belongs to one thread at a time.
#pragma once

#include "fs/file_system.h"

namespace caudal {

class LocalFileSystem : public FileSystem {
 public:
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
};

}  // namespace caudal
