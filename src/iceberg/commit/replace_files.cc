#include "iceberg/commit/replace_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "iceberg/commit/replace_changes.h"
#include "iceberg/manifest/manifest_list.h"
#include "iceberg/snapshot/snapshot_commit.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kFirstPause = 50;
constexpr int64_t kLongestPause = 2'000;

// Whether the head was made upon the snapshot, as far as the table tells.
bool IsBehind(const TableMetadata& table, int64_t snapshot, const Snapshot& head) {
  const Snapshot* at = &head;
  for (size_t steps = 0; at != nullptr && steps <= table.snapshots.size(); ++steps) {
    if (at->snapshot_id == snapshot) return true;
    at = at->parent_snapshot_id ? table.FindSnapshot(*at->parent_snapshot_id) : nullptr;
  }
  return false;
}

class FilesReplacing : public SnapshotMaker {
 public:
  FilesReplacing(const TableFiles& files, const TableName& name, const std::string& uuid,
                 const std::vector<FileReplacement>& groups, HeadFiles* known, const ReplaceOptions& options)
      : files_(files),
        name_(name),
        table_uuid_(uuid),
        groups_(groups),
        known_(known),
        options_(options),
        marker_(files.NewUuid()) {}

  Result<ReplaceOutcome> Commit(Catalog* catalog) {
    SnapshotCommitOptions how;
    how.branch = options_.branch;
    how.attempts = options_.attempts;
    how.first_wait = kFirstPause;
    how.longest_wait = kLongestPause;
    how.wait = options_.wait;
    how.turn = options_.turn;
    SnapshotCommit commit(catalog, files_, name_, this, how);
    const Status status = commit.Run();
    if (!commit.is_unknown()) RemoveLost(status.ok());
    RETURN_IF_ERROR(status);
    return done_;
  }

  Result<bool> IsSettled(const TableMetadata& table, const std::set<int64_t>& asked) override {
    for (const int64_t id : asked) {
      if (table.FindSnapshot(id) == nullptr) continue;
      done_ = tried_.at(id);
      return true;
    }
    RETURN_IF_ERROR(CheckRequirements(table, {AssertTableUuid{table_uuid_}}));
    // What it lacks is not gone: it is not there yet.
    const auto is_older = [&](const FileReplacement& one) {
      return one.sequence_number > table.last_sequence_number;
    };
    if (std::any_of(groups_.begin(), groups_.end(), is_older)) {
      return Status::External("the catalog gave metadata that is older than what was read", Retry::kBackoff);
    }
    return false;
  }

  // Nothing if every group lost.
  Result<std::optional<SnapshotContents>> Make(const SnapshotAttempt& attempt) override {
    const TableMetadata& table = *attempt.table;
    const Snapshot& head = *attempt.head;
    RETURN_IF_ERROR(CheckHistory(name_, head));
    ASSIGN_OR_RETURN(const std::string bytes, files_.Read(head.manifest_list));
    ASSIGN_OR_RETURN(std::vector<ManifestFile> manifests, ReadManifestList(bytes, head.manifest_list));
    std::erase_if(manifests, [](const ManifestFile& one) { return !one.has_live_files(); });
    RETURN_IF_ERROR(known_->Load(files_, manifests));
    done_ = ReplaceOutcome{.attempts = attempt.number, .committed = std::vector<bool>(groups_.size())};
    std::vector<const FileReplacement*> whole;
    for (size_t i = 0; i < groups_.size(); ++i) {
      done_.committed[i] = IsBehind(table, groups_[i].snapshot_id, head) && IsWhole(*known_, groups_[i]);
      if (done_.committed[i]) whole.push_back(&groups_[i]);
    }
    if (whole.empty()) return std::optional<SnapshotContents>();
    const std::string name = fmt::format("{}-{}", marker_, attempt.snapshot_id);
    ASSIGN_OR_RETURN(ReplaceChanges changes,
                     MakeReplaceChanges({&files_, &table, known_, name}, whole, manifests, attempt.written));
    SnapshotContents contents{
        .manifests = std::move(changes.manifests),
        .summary = CommitSummary(&head, changes.added, changes.deletes, changes.removed),
        .schema_id = table.current_schema_id,
        .name = marker_};
    contents.summary["operation"] = "replace";
    done_.snapshot_id = attempt.snapshot_id;
    done_.sequence_number = attempt.sequence_number;
    done_.parent_id = head.snapshot_id;
    done_.moved_deletes = changes.moved_deletes;
    done_.outdated = changes.deletes.removed;
    tried_[attempt.snapshot_id] = done_;
    return std::optional(std::move(contents));
  }

  Status GaveUp(int64_t attempts, bool unknown, const Status& last) const override {
    return Status::External(
               fmt::format("the replacement of files of table '{}' {} after {} tries: {}", name_.ToString(),
                           unknown ? "is not certain" : "was refused", attempts, last.message()),
               Retry::kBackoff)
        .Hint(unknown ? "look at the table: it was done as a whole, or nothing changed"
                      : "the table is as its writers left it; say it again when they write less");
  }

 private:
  void RemoveLost(bool ended) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (ended && done_.committed[i]) continue;
      for (const DataFile& file : groups_[i].to) (void)files_.Remove(file.file_path).ok();
    }
  }

  const TableFiles& files_;
  const TableName& name_;
  const std::string& table_uuid_;
  const std::vector<FileReplacement>& groups_;
  HeadFiles* known_;
  const ReplaceOptions& options_;
  std::string marker_;                       // in the names of what is written
  std::map<int64_t, ReplaceOutcome> tried_;  // by the snapshot that was to be
  ReplaceOutcome done_;  // how it ended; of an attempt on its way, how it will if it is taken
};

}  // namespace

// The first snapshot of a table has the first number, and every other one a parent.
Status CheckHistory(const TableName& name, const Snapshot& head) {
  if (head.parent_snapshot_id || head.sequence_number <= 1) return Status();
  return Status::User(fmt::format("the catalog shows no history of table '{}'", name.ToString()))
      .Hint("its files alone tell which epochs of queries are committed, so that they are not rewritten");
}

Result<ReplaceOutcome> ReplaceFiles(Catalog* catalog, const TableFiles& files, const TableName& name,
                                    const std::string& table_uuid, const std::vector<FileReplacement>& groups,
                                    HeadFiles* known, const ReplaceOptions& options) {
  return FilesReplacing(files, name, table_uuid, groups, known, options).Commit(catalog);
}

}  // namespace caudal::iceberg
