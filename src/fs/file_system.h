// FileSystem: what caudal asks of files, so that a local disk, a test's memory and later S3 can stand behind
// it.
//
// Paths are absolute or relative to the process, '/'-separated. Every method may be called from any thread
// and may block: call from I/O threads. Errors are External, name the path and say what to do; a full disk is
// retryable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/buffer.h"

namespace caudal {

struct FileInfo {
  std::string path;
  int64_t size = 0;
  int64_t modified_micros = 0;  // wall clock
  uint64_t identity = 0;        // differs when a file was replaced under the same name (inode); 0 = unknown
  bool is_directory = false;
  int64_t changed_micros = 0;        // when it was last written, renamed or re-owned; 0 = unknown
  uint64_t device = 0;               // what `identity` counts in; 0 = unknown
  std::string_view unreadable = {};  // what it is, if neither file nor folder: "a pipe", "a link to nothing"
};

// Written once, from start to end, by one thread at a time. Dropping it unclosed leaves a file that
// RemoveLeftovers finds. A failed Append or Close keeps the bytes that are not yet written: a later Append or
// Close goes on exactly there, so that a full disk costs a pause and not the file.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual Status Append(std::string_view bytes) = 0;
  virtual Status Sync() = 0;                       // the bytes are durable
  virtual Status Close() = 0;                      // bytes and name are durable; OK again if called again
  virtual int64_t size() const = 0;                // bytes appended
  virtual int64_t unwritten() const { return 0; }  // of them, what is still in memory
};

class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  // Up to `length` bytes from `offset`; fewer at the end of the file.
  virtual Result<MutableBufferPtr> Read(int64_t offset, int64_t length) = 0;
  virtual int64_t size() const = 0;  // when it was opened
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual Result<std::unique_ptr<WritableFile>> Create(const std::string& path) = 0;  // truncates
  // Whole file, durable, only if there is none: false (and nothing written) when the name is taken. Atomic.
  virtual Result<bool> CreateIfAbsent(const std::string& path, std::string_view bytes) = 0;
  // Refuses what is no file without waiting for it: a pipe would give nothing until someone writes.
  virtual Result<std::unique_ptr<RandomAccessFile>> Open(const std::string& path) = 0;
  virtual Result<std::string> ReadAll(const std::string& path) = 0;
  // Atomic; replaces. Durable (the folder is synced) on return.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  // The same, but never replaces: false (and nothing renamed) when the name is taken by another file.
  virtual Result<bool> RenameIfAbsent(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;  // OK if it is not there
  virtual Status MakeDirectories(const std::string& path) = 0;
  // Entries of a folder, sorted by name; empty if the folder is not there.
  virtual Result<std::vector<FileInfo>> List(const std::string& path) = 0;
  virtual Result<FileInfo> Stat(const std::string& path) = 0;
  virtual Result<bool> Exists(const std::string& path) = 0;

  static FileSystem* Local();  // never destroyed
};

}  // namespace caudal
