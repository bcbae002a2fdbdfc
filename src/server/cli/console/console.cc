#include "server/cli/console/console.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/secret.h"

namespace caudal {

Console::Console(std::FILE* out, std::FILE* err)
    : out_(out),
      err_(err),
      out_is_terminal_(isatty(fileno(out)) == 1),
      err_is_terminal_(isatty(fileno(err)) == 1) {}

void Console::Out(std::string_view text) {
  ClearProgress();
  const std::string shown = Secrets::Redact(std::string(text));
  std::fwrite(shown.data(), 1, shown.size(), out_);
  if (out_is_terminal_) std::fflush(out_);
}

void Console::Note(std::string_view line) {
  if (json) return;
  ClearProgress();
  std::fprintf(err_, "%s\n", Secrets::Redact(std::string(line)).c_str());
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
  std::fflush(out_);
  ClearProgress();
  std::string text = status.ToString();
  if (json) {
    text = nlohmann::json{{"error",
                           {{"domain", DomainName(status.domain())},
                            {"message", status.message()},
                            {"at", status.frames()},
                            {"hint", status.hint()}}},
                          {"exit", static_cast<int>(code)}}
               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  std::fprintf(err_, "%s\n", Secrets::Redact(std::move(text)).c_str());
  return static_cast<int>(code);
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
