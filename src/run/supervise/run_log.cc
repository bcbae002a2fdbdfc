#include "run/supervise/run_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/env.h"
#include "base/secret.h"
#include "data/text/time_text.h"

namespace caudal {

RunLog::RunLog(const std::string& state_root) : path_(state_root + "/caudal.log") { File(); }

RunLog::~RunLog() {
  if (file_ >= 0) close(file_);
}

int RunLog::File() {
  std::lock_guard lock(mutex_);
  if (file_ < 0) file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  return file_;
}

void RunLog::Write(std::string_view line) {
  const int file = File();
  if (file < 0) return;
  char time[kTimestampTextSize];
  const size_t size = FormatTimestamp(Env::Real()->NowMicros(), 3, time);
  const std::string text =
      Secrets::Redact(fmt::format("time={} pid={} {}\n", Quoted({time, size}), getpid(), line));
  // A log line is never worth stopping for.
  if (write(file, text.data(), text.size()) < 0) return;
}

std::string RunLog::Quoted(std::string_view value) {
  std::string quoted = "\"";
  // Before a secret with a quotation mark looks different.
  for (const char c : Secrets::RedactMessage(std::string(value))) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n') {
      quoted += "\\n";
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace caudal
