#include "server/cli/rebuild/cut_over.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "fs/file_system.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;

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

// `comes` takes the place of `stays`, which goes to `goes`. May be said again at any point.
Status SwapFolders(const std::string& comes, const std::string& stays, const std::string& goes) {
  FileSystem* files = FileSystem::Local();
  ASSIGN_OR_RETURN(const bool waits, files->Exists(comes));
  if (!waits) return Status();  // it is there
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
  if (change.move.to_snapshot != 0 && made) return change;
  return Status::User(fmt::format("'{}' has not been rebuilt", plan.shown))
      .Hint("say it without --cut-over first");
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
  RETURN_IF_ERROR(WriteJournal(plan.journal, ToJson(*this, plan).dump() + "\n"));
  const Status moved =
      iceberg::MoveBranch(&plan.target.lake->catalog(), plan.target.options.name, move, Waiting());
  if (!moved.ok()) {
    // Refused for good: nothing was moved, and nothing will be.
    if (moved.domain() == Domain::kUser) RETURN_IF_ERROR(FileSystem::Local()->Remove(plan.journal));
    return moved;
  }
  const bool there = kind == Kind::kThere;
  RETURN_IF_ERROR(SwapFolders(there ? plan.made : plan.left, plan.live, there ? plan.left : plan.undone));
  return FileSystem::Local()->Remove(plan.journal);
}

}  // namespace caudal
