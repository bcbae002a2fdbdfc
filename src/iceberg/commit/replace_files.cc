#include "iceberg/commit/replace_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "iceberg/commit/new_snapshot.h"
#include "iceberg/commit/replace_changes.h"
#include "iceberg/manifest/manifest_list.h"

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

class FilesReplacing {
 public:
  FilesReplacing(Catalog* catalog, const TableFiles& files, const TableName& name, const std::string& uuid,
                 const std::vector<FileReplacement>& groups, HeadFiles* known, const ReplaceOptions& options)
      : catalog_(catalog),
        files_(files),
        name_(name),
        table_uuid_(uuid),
        groups_(groups),
        known_(known),
        options_(options),
        marker_(files.NewUuid()) {}

  Result<ReplaceOutcome> Run() {
    Result<ReplaceOutcome> outcome = Loop();
    if (!unknown_) RemoveLost(outcome);
    return outcome;
  }

 private:
  Result<ReplaceOutcome> Loop() {
    int64_t wait = kFirstPause;
    for (int64_t attempt = 1;; ++attempt) {
      ASSIGN_OR_RETURN(const bool done, InTurn());
      if (done) return done_;
      if (attempt >= options_.attempts) {
        return Status::External(fmt::format("the files of table '{}' were not replaced after {} tries: {}",
                                            name_.ToString(), attempt, last_.message()),
                                Retry::kBackoff)
            .Hint("the table is as its writers left it; say it again when they write less");
      }
      if (options_.wait) options_.wait(wait);
      wait = std::min(2 * wait, kLongestPause);
    }
  }

  Result<bool> InTurn() {
    if (options_.turn == nullptr) return Attempt();
    const std::lock_guard lock(*options_.turn);
    return Attempt();
  }

  // True: `done_` is how it ended. False: to be tried again, `last_` says why.
  Result<bool> Attempt() {
    ++attempts_;
    Result<LoadedTable> loaded = catalog_->LoadTable(name_);
    if (!loaded.ok()) return Again(loaded.status());
    const TableMetadata& table = loaded->metadata;
    for (const auto& [id, outcome] : tried_) {
      if (table.FindSnapshot(id) == nullptr) continue;
      done_ = outcome;
      return true;
    }
    RETURN_IF_ERROR(CheckRequirements(table, {AssertTableUuid{table_uuid_}}));
    // What it lacks is not gone: it is not there yet.
    const auto is_older = [&](const FileReplacement& one) {
      return one.sequence_number > table.last_sequence_number;
    };
    if (std::any_of(groups_.begin(), groups_.end(), is_older)) {
      return Again(
          Status::External("the catalog gave metadata that is older than what was read", Retry::kBackoff));
    }
    const SnapshotRef* ref = table.FindRef(options_.branch);
    if (ref == nullptr || ref->type != "branch") {
      return Status::User(fmt::format("table '{}' has no branch '{}'", name_.ToString(), options_.branch));
    }
    written_.clear();
    Result<std::optional<Snapshot>> made = Build(table, *table.FindSnapshot(ref->snapshot_id));
    if (!made.ok()) {
      RemoveWritten();  // nobody was told of it
      return Again(made.status());
    }
    if (!*made) return true;
    return Commit(table, *ref, **made);
  }

  Result<bool> Commit(const TableMetadata& table, const SnapshotRef& ref, const Snapshot& snapshot) {
    SnapshotRef moved = ref;
    moved.snapshot_id = snapshot.snapshot_id;
    TableCommit commit;
    commit.requirements = {AssertTableUuid{table.table_uuid},
                           AssertRefSnapshotId{options_.branch, ref.snapshot_id}};
    commit.updates = {AddSnapshot{snapshot}, SetSnapshotRef{options_.branch, moved}};
    tried_[snapshot.snapshot_id] = done_;
    const CommitAnswer answer = catalog_->Commit(name_, commit);
    if (answer.outcome == CommitOutcome::kDone) return true;
    if (answer.outcome == CommitOutcome::kUnknown) {
      unknown_ = true;
    } else {
      RemoveWritten();  // that very snapshot nobody has
    }
    return Again(answer.status);
  }

  Result<bool> Again(const Status& status) {
    if (status.retry() != Retry::kBackoff) return status;
    last_ = status;
    return false;
  }

  // Nothing if every group lost.
  Result<std::optional<Snapshot>> Build(const TableMetadata& table, const Snapshot& head) {
    RETURN_IF_ERROR(CheckHistory(name_, head));
    ASSIGN_OR_RETURN(const std::string bytes, files_.Read(head.manifest_list));
    ASSIGN_OR_RETURN(std::vector<ManifestFile> manifests, ReadManifestList(bytes, head.manifest_list));
    std::erase_if(manifests, [](const ManifestFile& one) { return !one.has_live_files(); });
    RETURN_IF_ERROR(known_->Load(files_, manifests));
    done_ = ReplaceOutcome{.attempts = attempts_, .committed = std::vector<bool>(groups_.size())};
    std::vector<const FileReplacement*> whole;
    for (size_t i = 0; i < groups_.size(); ++i) {
      done_.committed[i] = IsBehind(table, groups_[i].snapshot_id, head) && IsWhole(*known_, groups_[i]);
      if (done_.committed[i]) whole.push_back(&groups_[i]);
    }
    if (whole.empty()) return std::optional<Snapshot>();
    const int64_t id = NewSnapshotId(table, files_.env());
    ASSIGN_OR_RETURN(ReplaceChanges changes,
                     MakeReplaceChanges({&files_, &table, known_, fmt::format("{}-{}", marker_, id)}, whole,
                                        manifests, &written_));
    return MakeSnapshot(table, head, id, changes);
  }

  Result<std::optional<Snapshot>> MakeSnapshot(const TableMetadata& table, const Snapshot& head, int64_t id,
                                               const ReplaceChanges& changes) {
    Snapshot snapshot{.snapshot_id = id, .schema_id = table.current_schema_id};
    snapshot.parent_snapshot_id = head.snapshot_id;
    snapshot.sequence_number = table.last_sequence_number + 1;
    snapshot.timestamp_ms = NextTimestamp(table, files_.env()->NowMillis());
    snapshot.summary = CommitSummary(&head, changes.added, changes.deletes, changes.removed);
    snapshot.summary["operation"] = "replace";
    ASSIGN_OR_RETURN(const WrittenManifestList list,
                     WriteManifestList(changes.manifests, {.format_version = table.format_version,
                                                           .snapshot_id = id,
                                                           .parent_snapshot_id = snapshot.parent_snapshot_id,
                                                           .sequence_number = snapshot.sequence_number,
                                                           .first_row_id = table.next_row_id,
                                                           .sync = RandomMarker(files_.env())}));
    if (table.format_version >= 3) {
      snapshot.first_row_id = table.next_row_id;
      snapshot.added_rows = list.added_rows;
    }
    snapshot.manifest_list =
        fmt::format("{}/snap-{}-{}-{}.avro", MetadataFolder(table), id, attempts_, marker_);
    RETURN_IF_ERROR(files_.Write(snapshot.manifest_list, list.bytes));
    written_.push_back(snapshot.manifest_list);
    done_.snapshot_id = id;
    done_.sequence_number = snapshot.sequence_number;
    done_.parent_id = head.snapshot_id;
    done_.moved_deletes = changes.moved_deletes;
    done_.outdated = changes.deletes.removed;
    return std::optional(std::move(snapshot));
  }

  // An orphan, no more, is what cannot be removed.
  void RemoveWritten() {
    for (const std::string& location : written_) (void)files_.Remove(location).ok();
    written_.clear();
  }

  void RemoveLost(const Result<ReplaceOutcome>& outcome) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (outcome.ok() && outcome->committed[i]) continue;
      for (const DataFile& file : groups_[i].to) (void)files_.Remove(file.file_path).ok();
    }
  }

  Catalog* catalog_;
  const TableFiles& files_;
  const TableName& name_;
  const std::string& table_uuid_;
  const std::vector<FileReplacement>& groups_;
  HeadFiles* known_;
  const ReplaceOptions& options_;
  std::string marker_;                       // in the names of what is written
  std::map<int64_t, ReplaceOutcome> tried_;  // by the snapshot that was asked for
  std::vector<std::string> written_;         // by the attempt, for it alone
  ReplaceOutcome done_;
  int attempts_ = 0;
  bool unknown_ = false;
  Status last_;
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
  return FilesReplacing(catalog, files, name, table_uuid, groups, known, options).Run();
}

}  // namespace caudal::iceberg
