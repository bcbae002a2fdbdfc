#include "run/supervise/state_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace caudal {
namespace {

constexpr int kLockAttempts = 20;
constexpr auto kLockPause = std::chrono::milliseconds(25);
constexpr size_t kDescriptionRoom = 4096;  // bytes: a disk that is full takes another in its place

std::string LockPath(const std::string& state_root) { return state_root + "/lock"; }
std::string DescriptionPath(const std::string& state_root) { return state_root + "/run.json"; }

Status CannotWrite(const std::string& path, const std::string& why) {
  return Status::External(fmt::format("state folder '{}' cannot be written: {}", path, why))
      .Hint("make it writable, or name another with --state");
}

// By errno.
Status CannotRead(const std::string& path) {
  return Status::External(fmt::format("cannot read '{}': {}", path, std::strerror(errno)))
      .Hint("give the user that runs caudal the right to this path");
}

// The holder's number stands in the lock file.
std::string HolderOf(int file) {
  char text[24] = "";
  const ssize_t size = pread(file, text, sizeof text - 1, 0);
  const long pid = size > 0 ? std::strtol(text, nullptr, 10) : 0;
  return pid > 0 ? fmt::format("another instance, process {},", pid) : "another instance";
}

// For whoever finds the lock taken; a folder that cannot be written fails elsewhere.
void WriteHolder(int file) {
  const std::string text = fmt::format("{}\n", getpid());
  if (ftruncate(file, 0) == 0) (void)!pwrite(file, text.data(), text.size(), 0);
}

// The child of a supervisor that was killed dies with it, but not in the same instant.
bool LockSoon(int file) {
  for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    std::this_thread::sleep_for(kLockPause);
  }
  return false;
}

}  // namespace

Result<StateLock> StateLock::Take(const std::string& state_root) {
  std::error_code error;
  std::filesystem::create_directories(state_root, error);
  if (error) return CannotWrite(state_root, error.message());
  const int file = open(LockPath(state_root).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return CannotWrite(state_root, std::strerror(errno));
  StateLock lock(file, state_root);
  if (!LockSoon(file)) {
    return Status::User(fmt::format("{} runs on state folder '{}'", HolderOf(file), state_root))
        .Hint(fmt::format("caudal stop --state {}, or name another folder", state_root));
  }
  WriteHolder(file);
  // Lock files stay writable when their folder is not: try what a checkpoint will do.
  const std::string probe = state_root + "/.writable";
  std::ofstream(probe) << "1";
  if (!std::filesystem::remove(probe, error))
    return CannotWrite(state_root, error ? error.message() : "no file can be made in it");
  return lock;
}

StateLock::StateLock(StateLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), state_root_(std::move(other.state_root_)) {}

StateLock::~StateLock() {
  if (file_ >= 0) close(file_);  // the lock goes with its last holder
}

Status StateLock::Describe(const std::string& json) const {
  const std::string path = DescriptionPath(state_root_);
  const std::string hidden = state_root_ + "/.run.json";
  std::string text = json;
  if (text.size() < kDescriptionRoom) text.resize(kDescriptionRoom - 1, ' ');
  text += '\n';
  std::ofstream file(hidden, std::ios::binary);
  file << text;
  file.close();
  if (file) {
    if (std::rename(hidden.c_str(), path.c_str()) == 0) return Status();
    return CannotWrite(path, std::strerror(errno));
  }
  // What is there stays as it is, or its place is taken: there is no other on a disk that is full.
  std::error_code error;
  std::filesystem::remove(hidden, error);
  if (text.size() > kDescriptionRoom) return CannotWrite(path, "there is no space");
  std::fstream there(path, std::ios::binary | std::ios::in | std::ios::out);
  there << text;
  there.close();
  return there ? Status() : CannotWrite(path, "there is no space");
}

Result<bool> StateLock::IsHeld(const std::string& state_root) {
  const int file = open(LockPath(state_root).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno != ENOENT && errno != ENOTDIR) return CannotRead(LockPath(state_root));
  if (file < 0) return false;
  const bool held = flock(file, LOCK_SH | LOCK_NB) != 0;
  close(file);
  return held;
}

Result<std::string> StateLock::ReadDescription(const std::string& state_root) {
  const std::string path = DescriptionPath(state_root);
  if (access(path.c_str(), R_OK) != 0 && errno != ENOENT && errno != ENOTDIR) return CannotRead(path);
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) {
    return Status::User(fmt::format("nothing has run on state folder '{}'", state_root))
        .Hint("name the folder that 'caudal run --state' was given");
  }
  return text.str();
}

}  // namespace caudal
