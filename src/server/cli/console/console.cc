#include "server/cli/console/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/secret.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;

// For programs: where in the SQL it is as numbers, each frame on one line.
Json ErrorJson(const Status& status) {
  Json error = {{"domain", DomainName(status.domain())},
                {"message", Secrets::RedactMessage(status.message())}};
  Json at = Json::array();
  for (const std::string& frame : status.frames()) {
    const std::string first = frame.substr(0, frame.find('\n'));
    at.push_back(Secrets::RedactMessage(first));
    int line = 0, column = 0;
    const size_t place = first.rfind("line ");
    if (error.contains("line") || place == std::string::npos) continue;
    if (std::sscanf(first.c_str() + place, "line %d, column %d", &line, &column) != 2) continue;
    error["line"] = line;
    error["column"] = column;
  }
  error["at"] = std::move(at);
  error["hint"] = Secrets::RedactMessage(status.hint());
  return error;
}

}  // namespace

Console::Console(std::FILE* out, std::FILE* err)
    : out_(out),
      err_(err),
      out_is_terminal_(isatty(fileno(out)) == 1),
      err_is_terminal_(isatty(fileno(err)) == 1) {}

void Console::Out(std::string_view text) {
  ClearProgress();
  const std::string shown = Secrets::Redact(std::string(text));
  if (std::fwrite(shown.data(), 1, shown.size(), out_) != shown.size() && out_error_ == 0) out_error_ = errno;
  if (out_is_terminal_) std::fflush(out_);
}

void Console::Note(std::string_view line) {
  if (json) return;
  ClearProgress();
  std::fprintf(err_, "%s\n", Secrets::RedactMessage(std::string(line)).c_str());
}

void Console::Remark(std::string_view line, std::string_view as_json) {
  ClearProgress();
  std::fprintf(err_, "%s\n", Secrets::Redact(std::string(json ? as_json : line)).c_str());
}

void Console::Progress(std::string_view line) {
  if (!shows_progress()) return;
  std::fprintf(err_, "\r\033[K%s", Secrets::Redact(std::string(line)).c_str());
  std::fflush(err_);
  progress_shown_ = true;
}

void Console::ClearProgress() {
  if (!progress_shown_) return;
  std::fputs("\r\033[K", err_);
  std::fflush(err_);
  progress_shown_ = false;
}

int Console::Fail(const Status& status, ExitCode code) {
  const Status flushed = Flush();  // Finish tells of it
  ClearProgress();
  std::string text;
  if (!json) {
    text = Secrets::RedactMessage(status.ToString());
  } else {
    text = nlohmann::json{{"error", ErrorJson(status)}, {"exit", static_cast<int>(code)}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  std::fprintf(err_, "%s\n", text.c_str());
  return static_cast<int>(code);
}

Status Console::Flush() {
  if (std::fflush(out_) != 0 && out_error_ == 0) out_error_ = errno;
  if (out_error_ == 0 || out_error_ == EPIPE) return Status();
  return Status::External(fmt::format("cannot write to standard output: {}", std::strerror(out_error_)),
                          Retry::kNo)
      .Hint("the output above is not whole: free some space, or send it elsewhere");
}

int Console::Finish(int code) {
  const Status flushed = Flush();
  if (flushed.ok()) return code;
  const int lost = Fail(flushed, ExitCode::kInternal);
  return code == static_cast<int>(ExitCode::kOk) ? lost : code;
}

std::string GroupDigits(int64_t number) {
  std::string text = std::to_string(number);
  const size_t first = text[0] == '-' ? 1 : 0;
  for (size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

}  // namespace caudal
