// MemoryFileSystem: files in memory for tests and the simulation, which lose at Crash what was not made
// durable, as a disk does when the power goes.
//
// Thread-safe. Handles stay usable after Crash (a zombie process goes on writing). Passes the same fault
// points as the local file system.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/env.h"
#include "fs/file_system.h"

namespace caudal {

class MemoryFileSystem : public FileSystem {
 public:
  explicit MemoryFileSystem(Env* env) : env_(env) {}

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

  // Cuts every file to its durable bytes and a seeded share of the rest; a file that was never synced may
  // vanish.
  void Crash(uint64_t seed);
  // For damage tests: replaces a file's bytes, durably.
  void Overwrite(const std::string& path, std::string bytes);
  // Every file, sorted by path.
  std::vector<std::string> Paths();

 private:
  class Writer;
  struct File {
    std::string bytes;
    size_t durable = 0;
    bool synced = false;  // at least once: its name survives
    int64_t modified_micros = 0;
  };

  Status Missing(const std::string& path) const;
  bool ParentExists(const std::string& path) const;
  // The file under `path`; null if there is none. REQUIRES: mutex_ is held.
  File* Find(const std::string& path);

  Env* env_;
  std::mutex mutex_;
  uint64_t next_id_ = 1;
  std::map<std::string, uint64_t> names_;
  std::map<uint64_t, File> files_;  // an open handle keeps its number, whatever the name becomes
  std::set<std::string> folders_;
};

}  // namespace caudal
