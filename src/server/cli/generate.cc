#include "server/cli/generate.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/env.h"
#include "demo/neobank_files.h"
#include "demo/neobank_report.h"

namespace caudal {
namespace {

Status DiskError(const std::string& path) {
  return Status::External(fmt::format("'{}': {}", path, std::strerror(errno)));
}

// A file of the demo: written under another name, then renamed, so that nobody ever sees half of it. What is
// no file, a pipe or device, is written as it is.
class FinishedFile {
 public:
  explicit FinishedFile(std::string path)
      : path_(std::move(path)), hidden_(HiddenName(path_)), file_(std::fopen(hidden_.c_str(), "wb")) {}
  ~FinishedFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Status Write(std::string_view bytes) {
    if (file_ == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
      return DiskError(hidden_);
    }
    return Status();
  }
  Status Publish() {
    if (file_ == nullptr) return DiskError(hidden_);
    if (std::fclose(std::exchange(file_, nullptr)) != 0) return DiskError(hidden_);
    if (hidden_ != path_ && std::rename(hidden_.c_str(), path_.c_str()) != 0) return DiskError(path_);
    return Status();
  }

 private:
  static std::string HiddenName(const std::filesystem::path& path) {
    std::error_code error;
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) return path;
    return path.parent_path() / ("." + path.filename().string());
  }

  std::string path_;
  std::string hidden_;
  std::FILE* file_;
};

Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return error ? Status::External(fmt::format("'{}': {}", path, error.message())) : Status();
}

// The stream's folder. Files of another stream among its own would make the expectation wrong.
Status MakeEmptyFolder(const std::string& path) {
  RETURN_IF_ERROR(MakeFolder(path));
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with('.')) continue;
    return Status::User(fmt::format("folder '{}' is not empty: it holds '{}'", path, name))
        .Hint("name a new folder with --out, or empty this one");
  }
  return error ? Status::External(fmt::format("'{}': {}", path, error.message())) : Status();
}

Status PrepareOptions(GenerateCommand* command) {
  const std::pair<const char*, std::pair<const std::string*, double*>> fractions[] = {
      {"duplicates", {&command->duplicates, &command->options.duplicates}},
      {"late", {&command->late, &command->options.late}},
      {"malformed", {&command->malformed, &command->options.malformed}}};
  for (const auto& [name, texts] : fractions) {
    if (texts.first->empty()) continue;
    ASSIGN_OR_RETURN(*texts.second, ParseFraction(name, *texts.first));
  }
  if (command->rate < 0) return Status::User("--rate must not be negative");
  if (command->folder.empty() && command->expected.empty() && command->expected_tables.empty()) {
    return Status::User("nothing to do").Hint("say where the files go with --out DIR, or --expected FILE");
  }
  // At a pace, files are small enough that one appears four times a second.
  if (command->rate > 0 && !command->file_events_given) {
    const double quarter = command->rate / 4;
    const double most = static_cast<double>(command->options.file_events);
    command->options.file_events = static_cast<uint64_t>(quarter < 1 ? 1 : quarter > most ? most : quarter);
  }
  return command->options.Validate();
}

Status WriteText(const std::string& path, const std::function<Status(const TextSink&)>& write) {
  const std::string parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) RETURN_IF_ERROR(MakeFolder(parent));
  FinishedFile file(path);
  RETURN_IF_ERROR(write([&file](std::string_view text) { return file.Write(text); }));
  return file.Publish();
}

Status WriteExpectation(const GenerateCommand& command, NeobankExpectation* expectation) {
  if (!command.expected.empty()) {
    RETURN_IF_ERROR(WriteText(
        command.expected, [&](const TextSink& sink) { return sink(NeobankExpectationJson(expectation)); }));
  }
  if (command.expected_tables.empty()) return Status();
  const std::string folder = command.expected_tables + "/";
  RETURN_IF_ERROR(WriteText(folder + "features.tsv", [&](const TextSink& sink) {
    return WriteNeobankFeatures(expectation, NeobankFeatureTable::kEveryWindow, sink);
  }));
  RETURN_IF_ERROR(WriteText(folder + "features_latest.tsv", [&](const TextSink& sink) {
    return WriteNeobankFeatures(expectation, NeobankFeatureTable::kLatest, sink);
  }));
  return WriteText(folder + "rejected.tsv",
                   [&](const TextSink& sink) { return WriteNeobankRejected(*expectation, false, sink); });
}

struct Sent {
  uint64_t events = 0;
  uint32_t files = 0;
};

// Sends all files at the asked pace.
Result<Sent> Send(const GenerateCommand& command, NeobankExpectation* expectation, Console& console) {
  Env* env = Env::Real();
  NeobankFiles files(command.options, expectation);
  NeobankFile file;
  const int64_t start = env->SteadyNanos();
  int64_t told = 0;
  uint64_t sent = 0;
  while (files.Next(&file)) {
    sent += file.events;
    if (command.rate > 0 && sent > command.burst) {
      // The file is due once its last row would have been sent.
      const auto due =
          start + static_cast<int64_t>(static_cast<double>(sent - command.burst) / command.rate * 1e9);
      const int64_t wait = due - env->SteadyNanos();
      if (wait > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(wait));
    }
    if (!command.folder.empty()) {
      FinishedFile finished(command.folder + "/" + file.name);
      RETURN_IF_ERROR(finished.Write(file.bytes));
      RETURN_IF_ERROR(finished.Publish());
    }
    const int64_t now = env->SteadyNanos();
    if (now - told < 200'000'000) continue;
    told = now;
    console.Progress(fmt::format("generate: {} of {} events in {} files, {} events/s",
                                 GroupDigits(static_cast<int64_t>(sent)),
                                 GroupDigits(static_cast<int64_t>(command.options.events)), file.number + 1,
                                 GroupDigits(static_cast<int64_t>(static_cast<double>(sent) * 1e9 /
                                                                  static_cast<double>(now - start + 1)))));
  }
  return Sent{sent, sent == 0 ? 0 : file.number + 1};
}

// Everything that was asked for, and what it took.
Status Make(const GenerateCommand& command, Console& console) {
  const int64_t start = Env::Real()->SteadyNanos();
  const bool expects = !command.expected.empty() || !command.expected_tables.empty();
  const auto expectation = expects ? std::make_unique<NeobankExpectation>(command.options) : nullptr;
  ASSIGN_OR_RETURN(const Sent sent, Send(command, expectation.get(), console));
  if (expects) RETURN_IF_ERROR(WriteExpectation(command, expectation.get()));
  const double seconds = static_cast<double>(Env::Real()->SteadyNanos() - start) / 1e9;
  console.Out(console.json ? fmt::format("{{\"events\": {}, \"files\": {}, \"seconds\": {:.3f}}}\n",
                                         sent.events, sent.files, seconds)
                           : fmt::format("{} events in {} files, {:.1f} s\n",
                                         GroupDigits(static_cast<int64_t>(sent.events)),
                                         GroupDigits(sent.files), seconds));
  return Status();
}

}  // namespace

int Generate(GenerateCommand command, Console& console) {
  const Status status = PrepareOptions(&command);
  if (!status.ok()) return console.Fail(status, ExitCode::kUsage);
  const Status folder = command.folder.empty() ? Status() : MakeEmptyFolder(command.folder);
  if (!folder.ok()) return console.Fail(folder, RefusalCode(folder));
  const Status done = Make(command, console);
  if (done.ok()) return static_cast<int>(ExitCode::kOk);
  return console.Fail(done, done.domain() == Domain::kUser ? ExitCode::kRefused : FailureCode(done));
}

}  // namespace caudal
