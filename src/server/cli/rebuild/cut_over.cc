#include "server/cli/rebuild/cut_over.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <vector>

#include "fs/file_system.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;

// Its ancestors as far as they are listed, itself first.
std::vector<const iceberg::Snapshot*> HistoryOf(const iceberg::TableMetadata& table, int64_t snapshot_id) {
  std::vector<const iceberg::Snapshot*> history;
  std::set<int64_t> seen;
  for (std::optional<int64_t> id = snapshot_id; id && seen.insert(*id).second;) {
    const iceberg::Snapshot* one = table.FindSnapshot(*id);
    if (one == nullptr) break;
    history.push_back(one);
    id = one->parent_snapshot_id;
  }
  return history;
}

int64_t HeadOf(const iceberg::TableMetadata& table, const std::string& ref) {
  const iceberg::SnapshotRef* found = table.FindRef(ref);
  return found == nullptr ? 0 : found->snapshot_id;
}

iceberg::RefOptions Waiting() {
  return {.wait = [](int64_t millis) { std::this_thread::sleep_for(std::chrono::milliseconds(millis)); }};
}

Json ToJson(const CutOver& change, const RebuildPlan& plan) {
  const iceberg::BranchMove& move = change.move;
  return {{"query", plan.shown},
          {"table", plan.target.shown},
          {"kind", change.kind == CutOver::Kind::kThere ? "there" : "back"},
          {"branch", move.branch},
          {"from", move.from},
          {"to", move.to},
          {"to_snapshot", move.to_snapshot},
          {"kept_as", move.kept_as},
          {"kept_until_ms", move.kept_until_ms}};
}

Result<CutOver> FromJson(const std::string& text, const RebuildPlan& plan) {
  const Json json = Json::parse(text, nullptr, false);
  const auto damaged = [&] {
    return Status::Data("the journal of a cut-over is damaged")
        .At(plan.journal)
        .Hint("compare the branches of the table with the checkpoints below the state folder, and remove it");
  };
  if (!json.is_object()) return damaged();
  for (const char* key : {"query", "kind", "branch", "to", "kept_as"}) {
    if (!json.contains(key) || !json[key].is_string()) return damaged();
  }
  for (const char* key : {"from", "to_snapshot", "kept_until_ms"}) {
    if (!json.contains(key) || !json[key].is_number_integer()) return damaged();
  }
  if (json["query"] != plan.shown) {
    return Status::User(fmt::format("a cut-over of '{}' is not complete", json["query"].get<std::string>()))
        .At(plan.journal)
        .Hint("complete it first: say its 'caudal rebuild …' again");
  }
  CutOver change{.kind = json["kind"] == "there" ? CutOver::Kind::kThere : CutOver::Kind::kBack, .move = {}};
  change.move.branch = json["branch"];
  change.move.from = json["from"];
  change.move.to = json["to"];
  change.move.to_snapshot = json["to_snapshot"];
  change.move.kept_as = json["kept_as"];
  change.move.kept_until_ms = json["kept_until_ms"];
  change.move.drop_to = true;
  return change;
}

// Durable: a journal that a power cut takes away would leave a half cut-over that nobody knows of.
Status WriteJournal(const std::string& path, const std::string& text) {
  FileSystem* files = FileSystem::Local();
  ASSIGN_OR_RETURN(const auto file, files->Create(path + ".tmp"));
  RETURN_IF_ERROR(file->Append(text));
  RETURN_IF_ERROR(file->Close());
  return files->Rename(path + ".tmp", path);
}

Status MakeParent(const std::string& path) {
  return FileSystem::Local()->MakeDirectories(path.substr(0, path.rfind('/')));
}

// In the folder of the checkpoint that comes, so that it is known when it has come: the cut-over's journal.
std::string MarkIn(const std::string& folder) { return folder + "/cut-over.json"; }

// `comes`, which bears `mark`, takes the place of `stays`, which goes to `goes`. May be said again at any
// point.
Status SwapFolders(const std::string& comes, const std::string& stays, const std::string& goes,
                   const std::string& mark) {
  FileSystem* files = FileSystem::Local();
  ASSIGN_OR_RETURN(const bool waits, files->Exists(comes));
  if (!waits) {
    const Result<std::string> has_come = files->ReadAll(MarkIn(stays));
    if (has_come.ok() && *has_come == mark) return Status();
    return Status::Data(fmt::format("the checkpoint that goes with the table now is not in '{}'", comes))
        .Hint(fmt::format(
            "it was moved away by hand: put it back there, and say it again; '{}' does not belong "
            "to the table any more",
            stays));
  }
  ASSIGN_OR_RETURN(const bool taken, files->Exists(stays));
  if (taken) {
    std::error_code error;
    std::filesystem::remove_all(goes, error);
    if (error) return Status::External(fmt::format("'{}' cannot be removed: {}", goes, error.message()));
    RETURN_IF_ERROR(MakeParent(goes));
    RETURN_IF_ERROR(files->Rename(stays, goes));
  }
  RETURN_IF_ERROR(MakeParent(stays));
  return files->Rename(comes, stays);
}

}  // namespace

Result<CutOver> CutOver::There(const RebuildPlan& plan, const iceberg::TableMetadata& table, int64_t now_ms,
                               int64_t keep_ms) {
  CutOver change;
  change.move = {.branch = plan.branch,
                 .from = HeadOf(table, plan.branch),
                 .to = plan.rebuilt,
                 .to_snapshot = HeadOf(table, plan.rebuilt),
                 .kept_as = plan.kept,
                 .kept_until_ms = now_ms + keep_ms,
                 .drop_to = true};
  ASSIGN_OR_RETURN(const bool made, FileSystem::Local()->Exists(plan.made));
  if (change.move.to_snapshot == 0 || !made) {
    return Status::User(fmt::format("'{}' has not been rebuilt", plan.shown))
        .Hint("say it without --cut-over first");
  }
  // A rebuild begins at a snapshot without rows. A branch that went meanwhile is made anew where 'main' is.
  std::set<int64_t> before;
  for (const iceberg::Snapshot* one : HistoryOf(table, change.move.from)) before.insert(one->snapshot_id);
  for (const iceberg::Snapshot* one : HistoryOf(table, change.move.to_snapshot)) {
    if (!before.contains(one->snapshot_id)) continue;
    return Status::User(fmt::format("branch '{}' has rows of '{}': it is not what was rebuilt", plan.rebuilt,
                                    plan.branch))
        .Hint("it was dropped and made anew meanwhile; say it with --discard, and rebuild again");
  }
  return change;
}

Result<CutOver> CutOver::Back(const RebuildPlan& plan, const iceberg::TableMetadata& table) {
  CutOver change{.kind = Kind::kBack, .move = {}};
  change.move = {.branch = plan.branch,
                 .from = HeadOf(table, plan.branch),
                 .to = plan.kept,
                 .to_snapshot = HeadOf(table, plan.kept),
                 .drop_to = true};
  if (change.move.to_snapshot == 0) {
    return Status::User(
               fmt::format("table '{}' has no branch '{}' to go back to", plan.target.shown, plan.kept))
        .Hint("there was no cut-over, or it has expired, or the table had no rows before it");
  }
  ASSIGN_OR_RETURN(const bool left, FileSystem::Local()->Exists(plan.left));
  if (left) return change;
  return Status::User(fmt::format("the checkpoint that '{}' had before its cut-over is gone", plan.shown))
      .At(plan.left)
      .Hint("the rows are still in the branch, but nothing can go on from them: rebuild again");
}

Result<std::optional<CutOver>> CutOver::Begun(const RebuildPlan& plan) {
  ASSIGN_OR_RETURN(const bool there, FileSystem::Local()->Exists(plan.journal));
  if (!there) return std::optional<CutOver>();
  ASSIGN_OR_RETURN(const std::string text, FileSystem::Local()->ReadAll(plan.journal));
  ASSIGN_OR_RETURN(CutOver change, FromJson(text, plan));
  return std::optional(std::move(change));
}

Status CutOver::Complete(const RebuildPlan& plan) const {
  FileSystem* files = FileSystem::Local();
  const bool there = kind == Kind::kThere;
  const std::string& comes = there ? plan.made : plan.left;
  const std::string text = ToJson(*this, plan).dump() + "\n";
  ASSIGN_OR_RETURN(const bool waits, files->Exists(comes));
  if (waits) RETURN_IF_ERROR(WriteJournal(MarkIn(comes), text));
  RETURN_IF_ERROR(WriteJournal(plan.journal, text));
  bool never = false;
  const Status moved =
      iceberg::MoveBranch(&plan.target.lake->catalog(), plan.target.options.name, move, Waiting(), &never);
  if (!moved.ok()) {
    if (never) RETURN_IF_ERROR(files->Remove(plan.journal));
    return moved;
  }
  RETURN_IF_ERROR(SwapFolders(comes, plan.live, there ? plan.left : plan.undone, text));
  RETURN_IF_ERROR(files->Remove(plan.journal));
  return files->Remove(MarkIn(plan.live));
}

}  // namespace caudal
