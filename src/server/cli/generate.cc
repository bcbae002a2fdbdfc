#include "server/cli/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/env.h"
#include "base/secret.h"
#include "demo/neobank_files.h"
#include "demo/neobank_report.h"
#include "server/cli/generated_topic.h"

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

Status CheckTarget(const GenerateCommand& command) {
  if (command.to == "kafka") {
    if (!command.folder.empty())
      return Status::User("--out is a folder of files").Hint("leave out --to kafka");
    if (command.bootstrap.empty() || command.topic.empty()) {
      return Status::User("--to kafka needs --bootstrap and --topic")
          .Hint("as in --to kafka --bootstrap 127.0.0.1:9092 --topic transactions --partitions 4");
    }
    return Status();
  }
  if (command.to != "files") {
    return Status::User(fmt::format("--to: '{}' is neither 'files' nor 'kafka'", command.to));
  }
  if (!command.bootstrap.empty() || !command.topic.empty() || command.partitions > 0 ||
      !command.properties.empty()) {
    return Status::User("--bootstrap, --topic, --partitions and --property are Kafka's")
        .Hint("add --to kafka");
  }
  if (!command.folder.empty() || !command.expected.empty() || !command.expected_tables.empty())
    return Status();
  return Status::User("nothing to do")
      .Hint("say where the files go with --out DIR, or --to kafka, or --expected FILE");
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
  RETURN_IF_ERROR(CheckTarget(*command));
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

// How a rejected row's file or partition is called.
std::string PartName(const GenerateCommand& command, uint32_t number) {
  return command.to == "kafka" ? fmt::format("{}[{}]", command.topic, number) : NeobankFiles::NameOf(number);
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
  return WriteText(folder + "rejected.tsv", [&](const TextSink& sink) {
    const auto name_of = [&](uint32_t number) { return PartName(command, number); };
    return WriteNeobankRejected(*expectation, false, name_of, sink);
  });
}

// The asked pace, and what a terminal sees of it.
class Pace {
 public:
  Pace(const GenerateCommand* command, Console* console)
      : command_(command), console_(console), start_(Env::Real()->SteadyNanos()) {}

  // Until the last of `sent` rows is due. Whoever was held up for long, by a broker or by a debugger, goes on
  // at the rate and not faster.
  void Await(uint64_t sent) {
    if (command_->rate <= 0 || sent <= command_->burst) return;
    const auto due = start_ + held_up_ +
                     static_cast<int64_t>(static_cast<double>(sent - command_->burst) / command_->rate * 1e9);
    const int64_t wait = due - Env::Real()->SteadyNanos();
    if (wait > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(wait));
    if (wait < -kCaughtUp) held_up_ -= wait;
  }
  void Tell(uint64_t sent, const std::string& where) {
    const int64_t now = Env::Real()->SteadyNanos();
    if (now - told_ < 200'000'000) return;
    told_ = now;
    const double per_second = static_cast<double>(sent) * 1e9 / static_cast<double>(now - start_ + 1);
    console_->Progress(fmt::format("generate: {} of {} events {}, {} events/s",
                                   GroupDigits(static_cast<int64_t>(sent)),
                                   GroupDigits(static_cast<int64_t>(command_->options.events)), where,
                                   GroupDigits(static_cast<int64_t>(per_second))));
  }

 private:
  const GenerateCommand* command_;
  Console* console_;
  static constexpr int64_t kCaughtUp = 100'000'000;  // nanoseconds that are made good
  const int64_t start_;
  int64_t held_up_ = 0;
  int64_t told_ = 0;
};

struct Sent {
  uint64_t events = 0;
  std::string where;  // "in 3 files", for people
  std::string json;   // the same, as members of an object
};

Result<Sent> SendFiles(const GenerateCommand& command, NeobankExpectation* expectation, Console& console) {
  NeobankFiles files(command.options, expectation);
  NeobankFile file;
  Pace pace(&command, &console);
  uint64_t sent = 0;
  while (files.Next(&file)) {
    sent += file.events;
    pace.Await(sent);
    if (!command.folder.empty()) {
      FinishedFile finished(command.folder + "/" + file.name);
      RETURN_IF_ERROR(finished.Write(file.bytes));
      RETURN_IF_ERROR(finished.Publish());
    }
    pace.Tell(sent, fmt::format("in {} files", file.number + 1));
  }
  const uint32_t count = sent == 0 ? 0 : file.number + 1;
  return Sent{sent, fmt::format("in {} files", GroupDigits(count)), fmt::format("\"files\": {}", count)};
}

Result<Sent> SendRecords(const GenerateCommand& command, GeneratedTopic* topic,
                         NeobankExpectation* expectation, Console& console) {
  NeobankRecords records(command.options, expectation);
  NeobankRecord record;
  Pace pace(&command, &console);
  const std::string where = fmt::format("in topic '{}'", topic->name());
  // Looked at the clock a hundred times a second, or for each row where they are fewer.
  const uint64_t step =
      command.rate > 0 ? std::clamp<uint64_t>(static_cast<uint64_t>(command.rate / 100), 1, 4096) : 4096;
  uint64_t sent = 0;
  while (records.Next(&record)) {
    RETURN_IF_ERROR(topic->Send(record));
    if (++sent % step != 0) continue;
    pace.Await(sent);
    pace.Tell(sent, where);
  }
  RETURN_IF_ERROR(topic->Finish(records));
  return Sent{sent, fmt::format("{} ({} partitions)", where, topic->partitions()),
              fmt::format("\"topic\": \"{}\", \"partitions\": {}", topic->name(), topic->partitions())};
}

Result<GeneratedTopic::Target> TargetOf(const GenerateCommand& command) {
  GeneratedTopic::Target target{
      command.topic, {{"bootstrap.servers", command.bootstrap}}, command.partitions};
  for (const std::string& property : command.properties) {
    const size_t equals = property.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Status::User(fmt::format("--property: '{}' is not name=value", property));
    }
    ASSIGN_OR_RETURN(target.properties[property.substr(0, equals)],
                     Secrets::Expand(property.substr(equals + 1)));
  }
  return target;
}

// What the rows are sent to; nothing has been sent yet.
Status Prepare(GenerateCommand* command, std::unique_ptr<GeneratedTopic>* topic) {
  if (command->to != "kafka") return command->folder.empty() ? Status() : MakeEmptyFolder(command->folder);
  ASSIGN_OR_RETURN(const GeneratedTopic::Target target, TargetOf(*command));
  ASSIGN_OR_RETURN(*topic, GeneratedTopic::Open(target));
  command->options.partitions = (*topic)->partitions();
  return Status();
}

// Everything that was asked for, and what it took.
Status Make(const GenerateCommand& command, GeneratedTopic* topic, Console& console) {
  const int64_t start = Env::Real()->SteadyNanos();
  const bool expects = !command.expected.empty() || !command.expected_tables.empty();
  const auto expectation = expects ? std::make_unique<NeobankExpectation>(command.options) : nullptr;
  ASSIGN_OR_RETURN(const Sent sent, topic != nullptr ? SendRecords(command, topic, expectation.get(), console)
                                                     : SendFiles(command, expectation.get(), console));
  if (expects) RETURN_IF_ERROR(WriteExpectation(command, expectation.get()));
  const double seconds = static_cast<double>(Env::Real()->SteadyNanos() - start) / 1e9;
  console.Out(
      console.json
          ? fmt::format("{{\"events\": {}, {}, \"seconds\": {:.3f}}}\n", sent.events, sent.json, seconds)
          : fmt::format("{} events {}, {:.1f} s\n", GroupDigits(static_cast<int64_t>(sent.events)),
                        sent.where, seconds));
  return Status();
}

}  // namespace

int Generate(GenerateCommand command, Console& console) {
  const Status status = PrepareOptions(&command);
  if (!status.ok()) return console.Fail(status, ExitCode::kUsage);
  std::unique_ptr<GeneratedTopic> topic;
  const Status prepared = Prepare(&command, &topic);
  if (!prepared.ok()) return console.Fail(prepared, RefusalCode(prepared));
  const Status done = Make(command, topic.get(), console);
  if (done.ok()) return static_cast<int>(ExitCode::kOk);
  return console.Fail(done, done.domain() == Domain::kUser ? ExitCode::kRefused : FailureCode(done));
}

}  // namespace caudal
