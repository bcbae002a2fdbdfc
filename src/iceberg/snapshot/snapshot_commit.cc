#include "iceberg/snapshot/snapshot_commit.h"

#include <fmt/format.h>

#include <algorithm>

#include "iceberg/commit/branch_history.h"
#include "iceberg/manifest/manifest_list.h"
#include "iceberg/snapshot/manifest_merge.h"
#include "iceberg/snapshot/new_snapshot.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kDefaultRetries = 4;
constexpr int64_t kDefaultMinWait = 100;

}  // namespace

Status SnapshotCommit::Run() {
  most_ = options_.retries_of_table ? 1 + kDefaultRetries : options_.attempts;
  wait_ = options_.first_wait;
  while (true) {
    ++tries_;
    ASSIGN_OR_RETURN(const bool done, InTurn());
    if (done) return Status();
    if (tries_ >= most_) return maker_.GaveUp(tries_, unknown_, last_);
    if (options_.wait) options_.wait(wait_);
    wait_ = std::min(2 * wait_, options_.longest_wait);
  }
}

Result<bool> SnapshotCommit::InTurn() {
  if (options_.turn == nullptr) return Attempt();
  const std::lock_guard lock(*options_.turn);
  return Attempt();
}

// True: it is settled or done. False: to be tried again, `last_` says why.
Result<bool> SnapshotCommit::Attempt() {
  Result<LoadedTable> loaded = catalog_->LoadTable(name_);
  if (!loaded.ok()) return Again(loaded.status());
  const TableMetadata& table = loaded->metadata;
  if (options_.retries_of_table) {
    most_ = 1 + NumberProperty(table, "commit.retry.num-retries", kDefaultRetries);
    if (tries_ == 1) wait_ = NumberProperty(table, "commit.retry.min-wait-ms", kDefaultMinWait);
  }
  Result<bool> settled = maker_.IsSettled(table, asked_);
  if (!settled.ok()) return Again(settled.status());
  if (*settled) return true;
  ++attempts_;
  const SnapshotRef* ref = table.FindRef(options_.branch);
  if (ref != nullptr && ref->type != "branch") {
    return Status::User(fmt::format("'{}' is a tag of table '{}'", options_.branch, name_.ToString()))
        .Hint("snapshots are committed to branches");
  }
  if (ref == nullptr && !options_.makes_branch)
    return Status::User(fmt::format("table '{}' has no branch '{}'", name_.ToString(), options_.branch));
  const Snapshot* head = HeadOf(table, options_.branch);
  written_.clear();
  Result<std::optional<Snapshot>> built = Build(table, head);
  if (!built.ok()) {
    RemoveWritten();  // nobody was told of it
    return Again(built.status());
  }
  if (!*built) return true;
  return Ask(table, head, **built);
}

Result<bool> SnapshotCommit::Again(const Status& status) {
  if (status.retry() != Retry::kBackoff) return status;
  last_ = status;
  return false;
}

Result<std::optional<Snapshot>> SnapshotCommit::Build(const TableMetadata& table, const Snapshot* head) {
  const SnapshotAttempt attempt{.table = &table,
                                .head = head,
                                .snapshot_id = NewSnapshotId(table, files_.env()),
                                .sequence_number = table.last_sequence_number + 1,
                                .number = attempts_,
                                .written = &written_};
  ASSIGN_OR_RETURN(std::optional<SnapshotContents> contents, maker_.Make(attempt));
  if (!contents) return std::optional<Snapshot>();
  MergeIfWorthIt(attempt, &*contents);
  ASSIGN_OR_RETURN(Snapshot snapshot, Write(attempt, *contents));
  return std::optional(std::move(snapshot));
}

// The commit does without what cannot be joined: it needs none of the manifests that are there.
void SnapshotCommit::MergeIfWorthIt(const SnapshotAttempt& attempt, SnapshotContents* contents) {
  // Whoever lost a race has no time to tidy.
  if (!contents->merges || attempt.number > 1 || attempt.head == nullptr) return;
  // A service that hides history goes back to states of its own, whose manifests nobody here knows.
  if (!attempt.head->parent_snapshot_id && attempt.head->sequence_number > 1) return;
  const size_t before = written_.size();
  if (!Merge(attempt, contents).ok()) RemoveWritten(before);
}

// What is joined stands where the first of it stood.
Status SnapshotCommit::Merge(const SnapshotAttempt& attempt, SnapshotContents* contents) const {
  const std::vector<size_t> numbers = PlanMerge(*attempt.table, contents->manifests);
  if (numbers.empty()) return Status();
  std::vector<ManifestFile> group, manifests;
  for (const size_t number : numbers) group.push_back(contents->manifests[number]);
  JoinTarget target{&files_, attempt.table, fmt::format("{}-{}-merged", contents->name, attempt.snapshot_id),
                    attempt.written};
  size_t created = 0;
  for (size_t i = 0; i < contents->manifests.size(); ++i) {
    if (i == numbers[0]) RETURN_IF_ERROR(JoinManifests(group, 1, &target, &manifests));
    if (std::binary_search(numbers.begin(), numbers.end(), i)) continue;
    if (!contents->manifests[i].sequence_number) ++created;
    manifests.push_back(contents->manifests[i]);
  }
  contents->manifests = std::move(manifests);
  contents->summary["manifests-created"] = std::to_string(created + 1);
  contents->summary["manifests-replaced"] = std::to_string(group.size());
  contents->summary["manifests-kept"] = std::to_string(contents->manifests.size() - created - 1);
  return Status();
}

Result<Snapshot> SnapshotCommit::Write(const SnapshotAttempt& attempt, const SnapshotContents& contents) {
  const TableMetadata& table = *attempt.table;
  Snapshot snapshot{.snapshot_id = attempt.snapshot_id, .schema_id = contents.schema_id};
  if (attempt.head != nullptr) snapshot.parent_snapshot_id = attempt.head->snapshot_id;
  snapshot.sequence_number = attempt.sequence_number;
  snapshot.timestamp_ms = NextTimestamp(table, files_.env()->NowMillis());
  snapshot.summary = contents.summary;
  ASSIGN_OR_RETURN(const WrittenManifestList list,
                   WriteManifestList(contents.manifests, {.format_version = table.format_version,
                                                          .snapshot_id = snapshot.snapshot_id,
                                                          .parent_snapshot_id = snapshot.parent_snapshot_id,
                                                          .sequence_number = snapshot.sequence_number,
                                                          .first_row_id = table.next_row_id,
                                                          .sync = RandomMarker(files_.env())}));
  if (table.format_version >= 3) {
    snapshot.first_row_id = table.next_row_id;
    snapshot.added_rows = list.added_rows;
  }
  snapshot.manifest_list = fmt::format("{}/snap-{}-{}-{}.avro", MetadataFolder(table), snapshot.snapshot_id,
                                       attempt.number, contents.name);
  RETURN_IF_ERROR(files_.Write(snapshot.manifest_list, list.bytes));
  written_.push_back(snapshot.manifest_list);
  return snapshot;
}

Result<bool> SnapshotCommit::Ask(const TableMetadata& table, const Snapshot* head, const Snapshot& snapshot) {
  const SnapshotRef* ref = table.FindRef(options_.branch);
  TableCommit commit;
  commit.requirements = {
      AssertTableUuid{table.table_uuid},
      AssertRefSnapshotId{options_.branch, ref == nullptr ? std::nullopt : std::optional(ref->snapshot_id)}};
  // Where a new branch begins must still be there, too.
  if (ref == nullptr && head != nullptr)
    commit.requirements.push_back(AssertRefSnapshotId{"main", head->snapshot_id});
  SnapshotRef moved = ref == nullptr ? SnapshotRef{.type = "branch"} : *ref;
  moved.snapshot_id = snapshot.snapshot_id;
  commit.updates = {AddSnapshot{snapshot}, SetSnapshotRef{options_.branch, moved}};
  asked_.insert(snapshot.snapshot_id);
  const CommitAnswer answer = catalog_->Commit(name_, commit);
  if (answer.outcome == CommitOutcome::kDone) return true;
  if (answer.outcome == CommitOutcome::kUnknown) {
    unknown_ = true;
    last_ = answer.status;
    return false;
  }
  // Refused for certain: nobody has its files.
  if (!unknown_) RemoveWritten();
  return Again(answer.status);
}

// An orphan, no more, is what cannot be removed.
void SnapshotCommit::RemoveWritten(size_t from) {
  for (size_t i = from; i < written_.size(); ++i) (void)files_.Remove(written_[i]).ok();
  written_.resize(from);
}

}  // namespace caudal::iceberg
