#include "fs/local_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

#include "base/fault_point.h"
#include "fs/local_error.h"
#include "fs/local_file.h"

namespace caudal {
namespace {

constexpr int kAttempts = 3;

int64_t Micros(const timespec& time) {
  return static_cast<int64_t>(time.tv_sec) * 1'000'000 + time.tv_nsec / 1000;
}

FileInfo Describe(std::string path, const struct stat& info) {
  FileInfo file;
  file.path = std::move(path);
  file.size = static_cast<int64_t>(info.st_size);
  file.modified_micros = Micros(info.st_mtim);
  file.changed_micros = Micros(info.st_ctim);
  file.identity = static_cast<uint64_t>(info.st_ino);
  file.device = static_cast<uint64_t>(info.st_dev);
  file.is_directory = S_ISDIR(info.st_mode);
  if (!file.is_directory) file.unreadable = WhyNoFile(info);
  return file;
}

// An entry that leads nowhere.
FileInfo DescribeBroken(std::string path, int error) {
  FileInfo file;
  file.path = std::move(path);
  file.unreadable = error == ENOENT  ? "a link to nothing"
                    : error == ELOOP ? "a link that leads in a circle"
                                     : "a link that cannot be followed";
  return file;
}

// A name beside `path` that no other caller of this or another process uses at the same time.
std::string TemporaryName(const std::string& path) {
  static std::atomic<uint64_t> next{0};
  const size_t slash = path.find_last_of('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  return fmt::format("{}.{}.{}-{}.tmp", path.substr(0, name), path.substr(name), getpid(), next++);
}

Status WriteWhole(const std::string& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, CreateLocalFile(path));
  RETURN_IF_ERROR(file->Append(bytes));
  return file->Close();
}

// A whole file beside it, then a hard link: link() fails if the name is taken and never shows half a file.
Result<bool> LinkWhole(const std::string& path, std::string_view bytes, bool* swept) {
  *swept = false;
  const std::string temporary = TemporaryName(path);
  const Status written = WriteWhole(temporary, bytes);
  if (!written.ok()) {
    unlink(temporary.c_str());
    return written;
  }
  const Status fault = [] {
    FAULT_POINT(disk_rename);
    return Status();
  }();
  const int linked = fault.ok() ? link(temporary.c_str(), path.c_str()) : -1;
  const int error = errno;
  unlink(temporary.c_str());
  RETURN_IF_ERROR(fault);
  if (linked != 0) {
    if (error == EEXIST) return false;
    *swept = error == ENOENT;
    return LocalError("create", path, error);
  }
  RETURN_IF_ERROR(SyncParentFolder(path));
  return true;
}

}  // namespace

FileSystem* FileSystem::Local() {
  static LocalFileSystem* local = new LocalFileSystem();
  return local;
}

Result<std::unique_ptr<WritableFile>> LocalFileSystem::Create(const std::string& path) {
  FAULT_POINT(disk_write);
  return CreateLocalFile(path);
}

Result<bool> LocalFileSystem::CreateIfAbsent(const std::string& path, std::string_view bytes) {
  // Where somebody swept the file beside it away, another try tells whether the name is taken.
  bool swept = false;
  for (int attempt = 1;; ++attempt) {
    Result<bool> made = LinkWhole(path, bytes, &swept);
    if (!swept || attempt == kAttempts) return made;
  }
}

Result<std::unique_ptr<RandomAccessFile>> LocalFileSystem::Open(const std::string& path) {
  return OpenLocalFile(path);
}

Result<std::string> LocalFileSystem::ReadAll(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file, OpenLocalFile(path));
  ASSIGN_OR_RETURN(MutableBufferPtr bytes, file->Read(0, file->size()));
  return std::string(bytes->view());
}

Status LocalFileSystem::Rename(const std::string& from, const std::string& to) {
  FAULT_POINT(disk_rename);
  if (rename(from.c_str(), to.c_str()) != 0)
    return LocalError("rename to '" + to + "' the file", from, errno);
  return SyncParentFolder(to);
}

Result<bool> LocalFileSystem::RenameIfAbsent(const std::string& from, const std::string& to) {
  FAULT_POINT(disk_rename);
  int error = renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
  if (error == EINVAL || error == ENOSYS) {
    // A file system that cannot: looking first is the best there is.
    ASSIGN_OR_RETURN(const bool taken, Exists(to));
    if (taken) return false;
    error = rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
  }
  if (error == EEXIST) return false;
  if (error != 0) return LocalError("rename to '" + to + "' the file", from, error);
  RETURN_IF_ERROR(SyncParentFolder(to));
  return true;
}

Status LocalFileSystem::Remove(const std::string& path) {
  if (std::remove(path.c_str()) != 0 && errno != ENOENT) return LocalError("remove", path, errno);
  return Status();
}

Status LocalFileSystem::MakeDirectories(const std::string& path) {
  if (path.empty()) return Status();
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    return S_ISDIR(info.st_mode) ? Status() : LocalError("make the folder", path, ENOTDIR);
  }
  const std::string parent = ParentFolder(path);
  if (parent != path) RETURN_IF_ERROR(MakeDirectories(parent));
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return LocalError("make the folder", path, errno);
  return SyncParentFolder(path);
}

Result<std::vector<FileInfo>> LocalFileSystem::List(const std::string& path) {
  std::vector<FileInfo> files;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) {
    if (errno == ENOENT) return files;
    return LocalError("list", path, errno);
  }
  const std::string prefix = path.ends_with('/') ? path : path + "/";
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat info;
    if (fstatat(dirfd(folder), entry->d_name, &info, 0) == 0) {
      files.push_back(Describe(prefix + name, info));
      struct stat link;
      // A link is as young as itself, however old what it leads to.
      if (entry->d_type == DT_LNK && fstatat(dirfd(folder), entry->d_name, &link, AT_SYMLINK_NOFOLLOW) == 0)
        files.back().changed_micros = std::max(files.back().changed_micros, Micros(link.st_ctim));
      continue;
    }
    const int error = errno;
    // A file that went away meanwhile is not there.
    if (fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    files.push_back(DescribeBroken(prefix + name, error));
  }
  closedir(folder);
  std::sort(files.begin(), files.end(), [](const FileInfo& a, const FileInfo& b) { return a.path < b.path; });
  return files;
}

Result<FileInfo> LocalFileSystem::Stat(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return LocalError("look at", path, errno);
  return Describe(path, info);
}

Result<bool> LocalFileSystem::Exists(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return LocalError("look at", path, errno);
}

}  // namespace caudal
