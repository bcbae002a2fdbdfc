#include "server/cli/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/secret.h"
#include "run/supervise/fault_plan.h"
#include "run/supervise/supervisor.h"
#include "server/cli/checkpoint_use.h"
#include "server/cli/rebuild/cut_over_journal.h"
#include "server/cli/usage/duration_argument.h"
#include "server/engine_run.h"
#include "server/state_place.h"

namespace caudal {
namespace {

RunSignals run_signals;

void OnSignal(int number) {
  if (number == SIGUSR1) {
    run_signals.drain = 1;
  } else if (number == SIGUSR2) {
    run_signals.checkpoint = 1;
  } else {
    run_signals.savepoint = 1;
  }
}

void ListenToSignals() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) {
    if (!IsIgnoredHangup(number)) sigaction(number, &action, nullptr);
  }
}

Status ParseListen(RunCommand* command) {
  if (command->listen.empty() || command->listen == "0") return Status();
  const size_t colon = command->listen.rfind(':');
  RunOptions& options = command->options;
  options.listen_host =
      colon == std::string::npos || colon == 0 ? "127.0.0.1" : command->listen.substr(0, colon);
  const std::string port = colon == std::string::npos ? command->listen : command->listen.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), options.listen_port);
  if (error != std::errc() || end != port.data() + port.size() || options.listen_port < 0 ||
      options.listen_port > 65535) {
    return Status::User(fmt::format("--listen: '{}' is not an address", command->listen))
        .Hint("write --listen 127.0.0.1:9464");
  }
  return Status();
}

Status PrepareOptions(RunCommand* command) {
  RETURN_IF_ERROR(ParseListen(command));
  if (!command->until_idle.empty()) {
    ASSIGN_OR_RETURN(command->options.until_idle_millis,
                     ParseDurationArgument(command->until_idle, "--until-idle"));
    if (command->options.until_idle_millis == 0) {
      return Status::User("--until-idle: no time is none to wait for rows")
          .Hint("write --until-idle '1 s', or leave it out to run on");
    }
  }
  if (command->options.drain && command->until_idle.empty()) {
    return Status::User("--drain says how --until-idle ends, and there is none")
        .Hint("add --until-idle '1 s'; caudal stop --drain drains a run that goes on");
  }
  if (!command->memory.empty()) {
    const Result<int64_t> memory = ParseBytes(command->memory);
    if (!memory.ok()) return memory.status().At("--memory").Hint("write --memory '2 GB'");
    command->options.memory_limit = *memory;
  }
  if (const char* faults = std::getenv("CAUDAL_FAULT")) command->options.faults = faults;
  return Status();
}

Result<Options> ParseSettings(const std::vector<std::string>& texts) {
  Options settings;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Status::User(fmt::format("--set: '{}' is not key=value", text));
    }
    settings[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return settings;
}

// A run that was told to listen to others should know that others hear it: /status names tables and paths.
void WarnOfStrangers(const RunOptions& options, Console& console) {
  const std::string& host = options.listen_host;
  if (host.empty() || host == "localhost" || host == "::1" || host.starts_with("127.")) return;
  console.Note(fmt::format(
      "warning: everyone who reaches {}:{} can read /metrics and /status; there is no password there", host,
      options.listen_port));
}

using Programs = std::vector<std::unique_ptr<Program>>;

// "'a', 'b'": the pipelines' names.
std::string NamesOf(const Programs& programs) {
  std::string names;
  for (const auto& program : programs)
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", program->text().name);
  return names;
}

Result<Programs> PlanRunnable(const RunOptions& options, const Options& settings) {
  ASSIGN_OR_RETURN(Programs programs,
                   PlanPrograms(options.paths, options.profile, settings, OutsideChanges::kMade));
  for (const auto& program : programs) RETURN_IF_ERROR(program->CheckRunnable());
  return programs;
}

// That no query begins from nothing because it is called otherwise than before.
Status CheckStored(const Program& program, const Programs& programs, const RunOptions& options,
                   Console& console) {
  ASSIGN_OR_RETURN(const CheckpointUse use,
                   FindCheckpointUse(options.state_root, program.text().name, program.Queries()));
  for (const std::string& other : use.namesakes) {
    const bool runs_too = std::any_of(programs.begin(), programs.end(),
                                      [&](const auto& one) { return one->text().name == other; });
    if (runs_too) continue;
    console.Note(
        fmt::format("warning: '{}' begins from nothing; {} holds queries of the same names of '{}': is "
                    "it the same pipeline, renamed?",
                    program.text().name, options.state_root, other));
  }
  return use.Check(options.allow_abandoned);
}

// `told`: the trouble that was told last.
void ShowView(const RunView& view, std::string* told, Console& console) {
  for (const std::string& warning : view.warnings) console.Note("run: warning: " + warning);
  if (view.trouble.ok() && !told->empty()) console.Note("run: it goes on");
  if (!view.trouble.ok() && view.trouble.message() != *told)
    console.Note(fmt::format("run: it waits and tries again: {}", view.trouble.ToString()));
  *told = view.trouble.ok() ? "" : view.trouble.message();
  if (!console.shows_progress()) return;
  console.Progress(fmt::format(
      "run: {} rows read, {} rows/s, epoch {}, {} of {} queries run", GroupDigits(view.rows_read),
      GroupDigits(static_cast<int64_t>(view.rows_per_second)), view.epoch, view.running, view.queries));
}

// The engine's process.
void RunChild(const Programs& programs, const RunOptions& options, ChildReport* report, Console& console) {
  ListenToSignals();
  std::vector<const Program*> all;
  for (const auto& program : programs) all.push_back(program.get());
  EngineRun run(all, options, &run_signals, report);
  bool before_start = false;
  std::string told;
  const Status status = run.Run([&](const RunView& view) { ShowView(view, &told, console); }, &before_start);
  if (!before_start) {
    console.Out(console.json ? ReportJson(run.reports()) + "\n" : ReportText(run.reports()));
  }
  const Status shown = console.Flush();
  report->Ended(status.ok() ? shown : status, before_start);
  // Whatever has not answered is not waited for: a start may be killed at any moment.
  if (run.awaits_answers()) _exit(0);
}

// For whoever has asked the run to stop: that it is over does not say how.
void NoteEnd(const StateLock& lock, const std::string& state_root, const Status& status, ExitCode code) {
  using Json = nlohmann::json;
  const Result<std::string> description = StateLock::ReadDescription(state_root);
  Json json = description.ok() ? Json::parse(*description, nullptr, false) : Json();
  if (!json.is_object()) return;
  json["ended"] = {{"code", static_cast<int>(code)}};
  if (!status.ok()) json["ended"]["error"] = Secrets::RedactMessage(status.message());
  // A full disk has been told by now.
  static_cast<void>(lock.Describe(json.dump(-1, ' ', false, Json::error_handler_t::replace)).ok());
}

}  // namespace

int Run(RunCommand command, Console& console) {
  const Status usage = PrepareOptions(&command);
  if (!usage.ok()) return console.Fail(usage, ExitCode::kUsage);
  const Result<FaultPlan> faults = FaultPlan::Parse(command.options.faults);
  if (!faults.ok()) return console.Fail(faults.status(), ExitCode::kUsage);
  const Result<Options> settings = ParseSettings(command.set);
  if (!settings.ok()) return console.Fail(settings.status(), ExitCode::kUsage);
  const Result<Programs> programs = PlanRunnable(command.options, *settings);
  if (!programs.ok()) return console.Fail(programs.status(), RefusalCode(programs.status()));
  const Result<StateLock> lock = StateLock::Take(LocalStateFolder(command.options.state_root));
  if (!lock.ok()) return console.Fail(lock.status(), RefusalCode(lock.status()));

  const Status whole = CheckNoCutOver(LocalStateFolder(command.options.state_root));
  if (!whole.ok()) return console.Fail(whole, RefusalCode(whole));
  for (const auto& program : *programs) {
    const Status stored = CheckStored(*program, *programs, command.options, console);
    if (!stored.ok()) return console.Fail(stored, RefusalCode(stored));
  }
  RunLog log(LocalStateFolder(command.options.state_root));
  for (size_t i = 0; i < programs->size(); ++i) {
    log.Write(
        fmt::format("event=run path={} pipeline={} profile={}", RunLog::Quoted(command.options.paths[i]),
                    RunLog::Quoted((*programs)[i]->text().name), RunLog::Quoted(command.options.profile)));
  }
  WarnOfStrangers(command.options, console);
  console.Note(fmt::format("running {}, state in {}", NamesOf(*programs), command.options.state_root));
  const ChildMain child = [&](ChildReport* report) { RunChild(*programs, command.options, report, console); };
  const RestartNote note = [&](const Status& why, int64_t pause) {
    command.options.restarted = true;
    console.Note(fmt::format("run: the engine starts again in {} ms: {}", pause, why.ToString()));
  };
  const SupervisorResult result = Supervise(child, *faults, &log, *lock, command.listen, note);
  const ExitCode code = result.before_start ? RefusalCode(result.status) : FailureCode(result.status);
  NoteEnd(*lock, LocalStateFolder(command.options.state_root), result.status, code);
  return result.status.ok() ? static_cast<int>(code) : console.Fail(result.status, code);
}

}  // namespace caudal
