#include "fs/local_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fault_point.h"
#include "fs/local_error.h"

namespace caudal {
namespace {

constexpr size_t kWriteBytes = 256 * 1024;

// What has been given to the system and is not on the disk cannot be had from the file again: whatever the
// reason, only writing it anew helps.
Status Written(Status status) {
  if (status.ok() || Faults::IsInjectedCrash(status)) return status;
  return Status::External(status.message(), Retry::kRestart).Hint(status.hint());
}

class LocalWritableFile : public WritableFile {
 public:
  LocalWritableFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~LocalWritableFile() override {
    if (fd_ >= 0) close(fd_);
  }

  Status Append(std::string_view bytes) override {
    size_ += static_cast<int64_t>(bytes.size());
    pending_.append(bytes);
    return pending_.size() >= kWriteBytes ? Flush() : Status();
  }

  Status Sync() override {
    RETURN_IF_ERROR(lost_);
    RETURN_IF_ERROR(Flush());
    lost_ = Written([this]() -> Status {
      FAULT_POINT(disk_sync);
      return fdatasync(fd_) == 0 ? Status() : LocalError("make durable", path_, errno);
    }());
    return lost_;
  }

  Status Close() override {
    if (fd_ < 0) return lost_;
    RETURN_IF_ERROR(Sync());
    RETURN_IF_ERROR(SyncParentFolder(path_));
    const int result = close(fd_);
    fd_ = -1;
    if (result != 0 && errno != EINTR) lost_ = Written(LocalError("close", path_, errno));
    return lost_;
  }

  int64_t size() const override { return size_; }
  int64_t unwritten() const override { return static_cast<int64_t>(pending_.size()); }

 private:
  // Writes what is pending; what a failure left stays for the next call.
  Status Flush() {
    size_t done = 0;
    Status status = WritePending(&done);
    pending_.erase(0, done);
    return status;
  }
  Status WritePending(size_t* done) {
    while (*done < pending_.size()) {
      FAULT_POINT(disk_write);
      const ssize_t written = write(fd_, pending_.data() + *done, pending_.size() - *done);
      if (written < 0) {
        if (errno == EINTR) continue;
        return LocalError("write", path_, errno);
      }
      *done += static_cast<size_t>(written);
    }
    return Status();
  }

  int fd_;
  std::string path_;
  std::string pending_;
  int64_t size_ = 0;
  Status lost_;  // of a failed sync: the system drops what it could not write and tells it once
};

class LocalRandomAccessFile : public RandomAccessFile {
 public:
  LocalRandomAccessFile(int fd, std::string path, int64_t size)
      : fd_(fd), path_(std::move(path)), size_(size) {}
  ~LocalRandomAccessFile() override { close(fd_); }

  Result<MutableBufferPtr> Read(int64_t offset, int64_t length) override {
    length = std::max<int64_t>(0, std::min(length, size_ - offset));
    MutableBufferPtr buffer = Buffer::Allocate(static_cast<size_t>(length));
    int64_t done = 0;
    while (done < length) {
      const ssize_t got =
          pread(fd_, buffer->mutable_data() + done, static_cast<size_t>(length - done), offset + done);
      if (got < 0) {
        if (errno == EINTR) continue;
        return LocalError("read", path_, errno);
      }
      if (got == 0) break;
      done += got;
    }
    buffer->set_size(static_cast<size_t>(done));
    return buffer;
  }
  int64_t size() const override { return size_; }

 private:
  int fd_;
  std::string path_;
  int64_t size_;
};

}  // namespace

std::string ParentFolder(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status SyncParentFolder(const std::string& path) {
  const std::string folder = ParentFolder(path);
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return LocalError("open", folder, errno);
  const int result = fsync(fd);
  const int error = errno;
  close(fd);
  if (result != 0 && error != EINVAL) return Written(LocalError("make durable", folder, error));
  return Status();
}

Result<std::unique_ptr<WritableFile>> CreateLocalFile(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return LocalError("create", path, errno);
  return std::unique_ptr<WritableFile>(new LocalWritableFile(fd, path));
}

std::string_view WhyNoFile(const struct stat& info) {
  if (S_ISREG(info.st_mode)) return {};
  if (S_ISDIR(info.st_mode)) return "a folder";
  if (S_ISFIFO(info.st_mode)) return "a pipe";
  if (S_ISSOCK(info.st_mode)) return "a socket";
  return "a device";
}

Result<std::unique_ptr<RandomAccessFile>> OpenLocalFile(const std::string& path) {
  // Opening a pipe would wait for who writes to it.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return LocalError("open", path, errno);
  struct stat info;
  if (fstat(fd, &info) != 0) {
    const int error = errno;
    close(fd);
    return LocalError("look at", path, error);
  }
  if (S_ISDIR(info.st_mode)) {
    close(fd);
    return LocalError("read", path, EISDIR);
  }
  if (const std::string_view what = WhyNoFile(info); !what.empty()) {
    close(fd);
    return Status::User(fmt::format("cannot read '{}': it is {}, not a file", path, what));
  }
  return std::unique_ptr<RandomAccessFile>(
      new LocalRandomAccessFile(fd, path, static_cast<int64_t>(info.st_size)));
}

}  // namespace caudal
