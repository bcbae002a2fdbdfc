#include "fs/local_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace caudal {
namespace {

struct Advice {
  int error;
  const char* text;
  Retry retry;
  const char* hint;
};

// A disk that is full or a folder that is read-only can be mended while the query waits, so these back off.
constexpr Advice kAdvice[] = {
    {ENOSPC, "no space left on the disk", Retry::kBackoff, "free some space: the query goes on by itself"},
    {EDQUOT, "the disk quota is used up", Retry::kBackoff, "free some space or raise the quota"},
    {EROFS, "the file system is read-only", Retry::kBackoff, "mount it writable, or choose another folder"},
    {EACCES, "permission denied", Retry::kBackoff,
     "give the user that runs caudal the right to this path, or choose another"},
    {EPERM, "not permitted", Retry::kBackoff, "check the owner and the attributes of this path"},
    {EMFILE, "too many open files in this process", Retry::kBackoff, "raise 'ulimit -n'"},
    {ENFILE, "too many open files in the system", Retry::kBackoff, "raise fs.file-max"},
    {ENOENT, "no such file or folder", Retry::kRestart, "check the path"},
    {ENOTDIR, "a part of the path is not a folder", Retry::kRestart, "check the path"},
    {EISDIR, "it is a folder", Retry::kRestart, "name a file"},
    {ENAMETOOLONG, "the name is too long", Retry::kNo, "use a shorter path"},
    {EIO, "the disk reports an input/output error", Retry::kRestart, "check the disk"},
};

}  // namespace

Status LocalError(std::string_view action, const std::string& path, int error) {
  for (const Advice& advice : kAdvice) {
    if (advice.error != error) continue;
    return Status::External(fmt::format("cannot {} '{}': {}", action, path, advice.text), advice.retry)
        .Hint(advice.hint);
  }
  char text[128] = "";
  // The GNU form returns the text, which need not be in the buffer.
  const char* reason = strerror_r(error, text, sizeof text);
  return Status::External(fmt::format("cannot {} '{}': {}", action, path, reason));
}

}  // namespace caudal
