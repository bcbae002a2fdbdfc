#include "server/cli/rebuild/rebuild_command.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "iceberg/refs/table_refs.h"
#include "run/supervise/fault_plan.h"
#include "run/supervise/state_lock.h"
#include "server/cli/rebuild/cut_over.h"
#include "server/cli/rebuild/replay.h"
#include "server/cli/usage/duration_argument.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;
using Step = RebuildCommand::Step;

class Rebuilding {
 public:
  Rebuilding(const RebuildCommand& command, const Program& program, RebuildPlan plan, Console& console)
      : command_(command), program_(program), plan_(std::move(plan)), console_(console) {}

  Status Run(int64_t until_idle_millis, int64_t keep_millis) {
    until_idle_millis_ = until_idle_millis;
    keep_millis_ = keep_millis;
    ASSIGN_OR_RETURN(const StateLock made, StateLock::Take(plan_.made_root));
    ASSIGN_OR_RETURN(const std::optional<CutOver> begun, CutOver::Begun(plan_));
    if (begun) RETURN_IF_ERROR(CheckCompletes(*begun));
    if (command_.step == Step::kReplay) return ReplayAll();
    if (command_.step == Step::kDiscard) return Discard();
    // Whoever writes the table waits: a run that is under way holds this lock.
    Result<StateLock> live = StateLock::Take(command_.state_root);
    if (!live.ok()) {
      return std::move(live).status().Hint(
          fmt::format("stop it first, so that it commits no more: caudal stop --state '{}'; what arrives "
                      "meanwhile waits in its source",
                      command_.state_root));
    }
    if (begun) return Finish(*begun);
    return command_.step == Step::kCutOver ? GoThere() : GoBack();
  }

 private:
  // Whatever else is said of a table that is between two histories would take a checkpoint from it that it
  // may belong to.
  Status CheckCompletes(const CutOver& begun) const {
    const bool there = begun.kind == CutOver::Kind::kThere;
    if (command_.step == (there ? Step::kCutOver : Step::kRollBack)) return Status();
    return Status::User(
               fmt::format("a {} of '{}' is not complete", there ? "cut-over" : "way back", plan_.shown))
        .At(plan_.journal)
        .Hint(fmt::format("complete it first: say 'caudal rebuild …' with {}",
                          there ? "--cut-over, then --roll-back if it is not wanted" : "--roll-back"));
  }

  Result<iceberg::TableMetadata> Table() const {
    ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded, plan_.target.Load());
    return loaded.metadata;
  }

  // The branch and the checkpoint of a rebuild belong together.
  Status MakeBranch() {
    ASSIGN_OR_RETURN(const iceberg::TableMetadata table, Table());
    ASSIGN_OR_RETURN(const bool folder, FileSystem::Local()->Exists(plan_.made));
    const bool branch = table.FindRef(plan_.rebuilt) != nullptr;
    if (branch && !folder) {
      return Status::User(fmt::format("table '{}' has a branch '{}' that no rebuild below '{}' knows",
                                      plan_.target.shown, plan_.rebuilt, command_.state_root))
          .Hint("say it with --discard, which drops the branch, or name the state folder it was begun with");
    }
    if (folder && !branch) RETURN_IF_ERROR(RemoveFolder(plan_.made));  // what a discarded one left
    if (branch) return Status();
    return iceberg::CreateRef(
               &plan_.target.lake->catalog(), plan_.target.lake->files(), plan_.target.options.name,
               {.name = plan_.rebuilt, .type = "branch", .snapshot_id = std::nullopt, .empty = true},
               Patience())
        .status();
  }

  Result<ReplayReport> ReplayOn() {
    ASSIGN_OR_RETURN(const ReplayReport report, Replay(program_, plan_, until_idle_millis_, console_));
    if (report.stopped) {
      return Status::User("stopped before its source rested").Hint("say it again: it goes on where it is");
    }
    return report;
  }

  Status ReplayAll() {
    RETURN_IF_ERROR(MakeBranch());
    ASSIGN_OR_RETURN(const ReplayReport report, ReplayOn());
    if (console_.json) {
      console_.Out(Json{{"query", plan_.shown},
                        {"table", plan_.target.shown},
                        {"branch", plan_.rebuilt},
                        {"rows_read", report.rows_read}}
                       .dump() +
                   "\n");
      return Status();
    }
    console_.Out(fmt::format("{}: rebuilt in branch '{}' of {}: {} rows read\n", plan_.shown, plan_.rebuilt,
                             plan_.target.shown, GroupDigits(report.rows_read)));
    console_.Note(
        fmt::format("look at it with OPTIONS('branch' = '{}'), stop the run, and say it again with "
                    "--cut-over",
                    plan_.rebuilt));
    return Status();
  }

  Status GoThere() {
    ASSIGN_OR_RETURN(const iceberg::TableMetadata before, Table());
    if (!command_.anyway) RETURN_IF_ERROR(plan_.CheckAlone(before));
    RETURN_IF_ERROR(CutOver::There(plan_, before, Now(), keep_millis_).status());
    ASSIGN_OR_RETURN(const ReplayReport report, ReplayOn());  // what came since
    (void)report;
    ASSIGN_OR_RETURN(const iceberg::TableMetadata table, Table());
    ASSIGN_OR_RETURN(const CutOver change, CutOver::There(plan_, table, Now(), keep_millis_));
    return Finish(change);
  }

  Status GoBack() {
    ASSIGN_OR_RETURN(const iceberg::TableMetadata table, Table());
    ASSIGN_OR_RETURN(const CutOver change, CutOver::Back(plan_, table));
    return Finish(change);
  }

  Status Finish(const CutOver& change) {
    RETURN_IF_ERROR(change.Complete(plan_));
    const bool there = change.kind == CutOver::Kind::kThere;
    if (console_.json) {
      console_.Out(Json{{"query", plan_.shown},
                        {"table", plan_.target.shown},
                        {"branch", plan_.branch},
                        {"from", change.move.from},
                        {"to", change.move.to_snapshot},
                        {"rolled_back", !there}}
                       .dump() +
                   "\n");
    } else {
      console_.Out(fmt::format("{}: '{}' of {} is at snapshot {} now, {}\n", plan_.shown, plan_.branch,
                               plan_.target.shown, change.move.to_snapshot,
                               there ? "which was rebuilt" : "as before the cut-over"));
      if (there && change.move.from != 0)
        console_.Note(fmt::format("what it left is branch '{}': --roll-back goes back to it", plan_.kept));
    }
    for (const std::string& reader : plan_.readers) {
      console_.Note(
          fmt::format("query '{}' reads the table as it grew, and the history that it was in has "
                      "been left: rebuild it too before the next run",
                      reader));
    }
    return Status();
  }

  Status Discard() {
    ASSIGN_OR_RETURN(const iceberg::TableMetadata table, Table());
    if (table.FindRef(plan_.rebuilt) != nullptr) {
      RETURN_IF_ERROR(iceberg::DropRef(&plan_.target.lake->catalog(), plan_.target.options.name, "branch",
                                       plan_.rebuilt, Patience()));
    }
    RETURN_IF_ERROR(RemoveFolder(plan_.made));
    console_.Out(console_.json ? Json{{"query", plan_.shown}, {"discarded", plan_.rebuilt}}.dump() + "\n"
                               : fmt::format("{}: the rebuild is discarded\n", plan_.shown));
    return Status();
  }

  static Status RemoveFolder(const std::string& folder) {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    if (!error) return Status();
    return Status::External(fmt::format("'{}' cannot be removed: {}", folder, error.message()));
  }
  static int64_t Now() { return Env::Real()->NowMillis(); }
  static iceberg::RefOptions Patience() {
    return {.wait = [](int64_t millis) { std::this_thread::sleep_for(std::chrono::milliseconds(millis)); }};
  }

  const RebuildCommand& command_;
  const Program& program_;
  RebuildPlan plan_;
  Console& console_;
  int64_t until_idle_millis_ = 0;
  int64_t keep_millis_ = 0;
};

Result<Options> SettingsOf(const std::vector<std::string>& texts) {
  Options settings;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      return Status::User(fmt::format("--set: '{}' is not key=value", text));
    settings[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return settings;
}

}  // namespace

int Rebuild(const RebuildCommand& command, Console& console) {
  const bool reads = command.step == Step::kReplay || command.step == Step::kCutOver;
  if (reads && command.from.empty()) {
    return console.Fail(Status::User("--from is missing: the table that it is made of")
                            .Hint("as in --from bronze: a table, its layer or its database"),
                        ExitCode::kUsage);
  }
  const Result<int64_t> idle = ParseDurationArgument(command.until_idle, "--until-idle");
  const Result<int64_t> keep = ParseDurationArgument(command.keep, "--keep");
  const Result<Options> settings = SettingsOf(command.set);
  for (const Status& usage : {idle.status(), keep.status(), settings.status()}) {
    if (!usage.ok()) return console.Fail(usage, ExitCode::kUsage);
  }
  if (const char* text = std::getenv("CAUDAL_FAULT")) {
    const Result<FaultPlan> faults = FaultPlan::Parse(text);
    if (!faults.ok()) return console.Fail(faults.status(), ExitCode::kUsage);
    faults->Arm(0);
  }
  const auto refuse = [&](const Status& status) { return console.Fail(status, RefusalCode(status)); };
  Result<ProgramText> text = ReadProgram(command.program, command.profile);
  if (!text.ok()) return refuse(text.status());
  const auto program = Program::Plan(std::move(text).value(), *settings, OutsideChanges::kMade);
  if (!program.ok()) return refuse(program.status());
  Result<RebuildPlan> plan = RebuildPlan::Make(**program, command.target, command.from, command.state_root);
  if (!plan.ok()) return refuse(plan.status());
  Rebuilding rebuilding(command, **program, std::move(plan).value(), console);
  const Status done = rebuilding.Run(*idle, *keep);
  if (done.ok()) return static_cast<int>(ExitCode::kOk);
  return console.Fail(done, done.domain() == Domain::kExternal ? ExitCode::kInternal : RefusalCode(done));
}

}  // namespace caudal
