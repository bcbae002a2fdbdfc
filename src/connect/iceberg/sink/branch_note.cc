#include "connect/iceberg/sink/branch_note.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "fs/store_file_system.h"
#include "iceberg/commit/branch_history.h"

namespace caudal {
namespace {

using Json = nlohmann::json;

// Whether every snapshot of the branch since the table's first is still listed.
bool IsWhole(const iceberg::TableMetadata& table, const std::string& branch) {
  const iceberg::Snapshot* at = iceberg::HeadOf(table, branch);
  if (at == nullptr) return true;
  std::set<int64_t> seen;
  while (at->parent_snapshot_id && seen.insert(at->snapshot_id).second) {
    at = table.FindSnapshot(*at->parent_snapshot_id);
    if (at == nullptr) return false;
  }
  return at->sequence_number <= 1;
}

}  // namespace

Status BranchNote::Load() {
  if (noted_) return Status();
  ASSIGN_OR_RETURN(const bool there, files_->Exists(path_));
  Noted noted;
  if (there) {
    ASSIGN_OR_RETURN(const std::string text, files_->ReadAll(path_));
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("branch") || !json["branch"].is_string()) {
      return Status::Data(fmt::format("'{}' names no branch", path_))
          .Hint("restore it with the rest of the checkpoint");
    }
    noted.branch = json["branch"].get<std::string>();
    noted.epoch = {json.value("generation", int64_t{0}), json.value("epoch", int64_t{0})};
    noted.sequence_number = json.value("sequence", int64_t{0});
  }
  noted_ = std::move(noted);
  return Status();
}

Status BranchNote::Check(const iceberg::TableMetadata& table, const std::string& branch, Epoch newest,
                         bool may_lag) {
  RETURN_IF_ERROR(Load());
  if (noted_->branch.empty() || newest >= noted_->epoch || !IsWhole(table, branch)) return Status();
  if (may_lag && table.last_sequence_number < noted_->sequence_number) {
    return Status::External("the catalog gave metadata that is older than a commit it acknowledged",
                            Retry::kBackoff);
  }
  const std::string epoch = fmt::format("{}-{}", noted_->epoch.generation, noted_->epoch.number);
  const bool there = table.FindRef(noted_->branch) != nullptr;
  if (branch != noted_->branch) {
    return Status::User(fmt::format("the query's epochs up to {} were committed to branch '{}', and it is to "
                                    "write to '{}' now, which has not all of them",
                                    epoch, noted_->branch, branch))
        .Hint(there ? fmt::format("set 'branch' = '{}' again, or move '{}' to it first (caudal table "
                                  "fast-forward)",
                                  noted_->branch, branch)
                    : "rebuild into an empty table under another --state folder: the branch is gone");
  }
  return Status::User(fmt::format("branch '{}' {}: the query's epochs up to {} were committed to it, and "
                                  "'{}' has not all of them",
                                  branch, there ? "is another one now" : "is gone", epoch,
                                  there ? branch : iceberg::HistoryOf(table, branch)))
      .Hint(
          "it was dropped, expired (max-ref-age) or was set back before its rows were moved on: make it anew "
          "at the snapshot that it had (caudal table branch create --snapshot), or begin anew under another "
          "--state folder");
}

Status BranchNote::Note(const std::string& branch, Epoch epoch, int64_t sequence_number) {
  RETURN_IF_ERROR(Load());
  if (branch == "main" && noted_->branch.empty()) return Status();
  Noted noted{branch, epoch, sequence_number};
  // From now on 'main' has all, and is asked for no more.
  if (branch == "main") noted = Noted();
  const Json json{{"branch", noted.branch},
                  {"generation", noted.epoch.generation},
                  {"epoch", noted.epoch.number},
                  {"sequence", noted.sequence_number}};
  RETURN_IF_ERROR(ReplaceFile(files_, path_, json.dump()));
  noted_ = std::move(noted);
  return Status();
}

}  // namespace caudal
