#include "iceberg/commit/append.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "iceberg/commit/branch_history.h"
#include "iceberg/commit/new_snapshot.h"
#include "iceberg/commit/row_delta.h"
#include "iceberg/commit/snapshot_summary.h"
#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/partition_path.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kDefaultRetries = 4;
constexpr int64_t kDefaultMinWait = 100;
constexpr int64_t kDefaultMaxWait = 60'000;

// One attempt after the other. What differs between them is the list and the snapshot.
class AppendCommit {
 public:
  AppendCommit(Catalog* catalog, const TableFiles& files, const TableName& name, const PreparedAppend& append,
               const PipelineToken& token, const AppendOptions& options)
      : catalog_(catalog), files_(files), name_(name), append_(append), token_(token), options_(options) {}

  // Rows are taken away too.
  void Delete(RowDeletes* deletes, HeadFiles* known) {
    deletes_ = deletes;
    known_ = known;
  }

  Result<AppendOutcome> Run() {
    int64_t retries = kDefaultRetries;
    int64_t wait = kDefaultMinWait;
    for (int64_t attempt = 0;; ++attempt) {
      Result<LoadedTable> table = catalog_->LoadTable(name_);
      if (table.ok()) {
        retries = NumberProperty(table->metadata, "commit.retry.num-retries", kDefaultRetries);
        if (attempt == 0) wait = NumberProperty(table->metadata, "commit.retry.min-wait-ms", kDefaultMinWait);
        RETURN_IF_ERROR(CheckRequirements(table->metadata, {AssertTableUuid{append_.table_uuid}}));
        if (const auto settled = Settled(table->metadata)) return *settled;
        Result<bool> done = Attempt(table->metadata);
        if (!done.ok() && done.status().retry() != Retry::kBackoff) return done.status();
        if (!done.ok()) last_ = done.status();
        if (done.ok() && *done) return done_;
      } else if (table.status().retry() != Retry::kBackoff) {
        return table.status();
      } else {
        last_ = table.status();
      }
      if (attempt >= retries) return GiveUp(attempt + 1);
      if (options_.wait) options_.wait(wait);
      wait = std::min(2 * wait, kDefaultMaxWait);
    }
  }

 private:
  std::optional<AppendOutcome> Settled(const TableMetadata& table) const {
    const TokenFinding finding = FindToken(table, options_.branch, token_);
    if (finding.search == TokenSearch::kAbsent) return std::nullopt;
    // Found after an attempt of ours without an answer: it was that one.
    const bool ours = finding.search == TokenSearch::kFound && tried_.count(finding.snapshot_id) > 0;
    const AppendResult result = ours                                    ? AppendResult::kCommitted
                                : finding.search == TokenSearch::kFound ? AppendResult::kFound
                                                                        : AppendResult::kSuperseded;
    const Snapshot& snapshot = *table.FindSnapshot(finding.snapshot_id);
    return AppendOutcome{result, finding.snapshot_id, attempts_, snapshot.sequence_number,
                         snapshot.parent_snapshot_id.value_or(0)};
  }

  // True: committed. False: to be tried again, `last_` says why.
  Result<bool> Attempt(const TableMetadata& table) {
    ++attempts_;
    const SnapshotRef* ref = table.FindRef(options_.branch);
    if (ref != nullptr && ref->type != "branch") {
      return Status::User(fmt::format("'{}' is a tag of table '{}'", options_.branch, name_.ToString()))
          .Hint("rows are appended to branches");
    }
    const Snapshot* parent = HeadOf(table, options_.branch);
    written_.clear();
    Result<Snapshot> built = Build(table, parent);
    if (!built.ok()) {
      RemoveWritten();  // nobody was told of it
      return built.status();
    }
    if (built->manifest_list.empty()) {  // nothing to do
      done_ = {live_ ? AppendResult::kFound : AppendResult::kCommitted, 0, attempts_};
      return true;
    }
    const Snapshot& snapshot = *built;
    TableCommit commit;
    commit.requirements = {
        AssertTableUuid{append_.table_uuid},
        AssertRefSnapshotId{options_.branch,
                            ref == nullptr ? std::nullopt : std::optional(ref->snapshot_id)}};
    // Where a new branch begins must still be there, too.
    if (ref == nullptr && parent != nullptr)
      commit.requirements.push_back(AssertRefSnapshotId{"main", parent->snapshot_id});
    SnapshotRef moved = ref == nullptr ? SnapshotRef{.type = "branch"} : *ref;
    moved.snapshot_id = snapshot.snapshot_id;
    commit.updates = {AddSnapshot{snapshot}, SetSnapshotRef{options_.branch, moved}};
    const CommitAnswer answer = catalog_->Commit(name_, commit);
    if (answer.outcome == CommitOutcome::kDone) {
      done_ = {AppendResult::kCommitted, snapshot_id_, attempts_, snapshot.sequence_number,
               snapshot.parent_snapshot_id.value_or(0)};
      return true;
    }
    last_ = answer.status;
    if (answer.outcome == CommitOutcome::kUnknown) {
      unknown_ = true;
    } else {
      if (answer.status.retry() != Retry::kBackoff) return answer.status;
      // Refused for certain: nobody has the list.
      if (!unknown_) RemoveWritten();
    }
    return false;
  }

  Result<Snapshot> Build(const TableMetadata& table, const Snapshot* parent) {
    snapshot_id_ = NewSnapshotId(table, files_.env());
    tried_.insert(snapshot_id_);
    Snapshot snapshot{.snapshot_id = snapshot_id_, .schema_id = append_.schema_id};
    if (parent != nullptr) snapshot.parent_snapshot_id = parent->snapshot_id;
    snapshot.sequence_number = table.last_sequence_number + 1;
    snapshot.timestamp_ms = NextTimestamp(table, files_.env()->NowMillis());
    std::vector<ManifestFile> kept;
    if (parent != nullptr) {
      ASSIGN_OR_RETURN(const std::string bytes, files_.Read(parent->manifest_list));
      ASSIGN_OR_RETURN(kept, ReadManifestList(bytes, parent->manifest_list));
      // What only tells of files that are gone has been told by the snapshot that wrote it.
      std::erase_if(kept, [](const ManifestFile& manifest) { return !manifest.has_live_files(); });
    }
    ASSIGN_OR_RETURN(live_, IsLive(table, parent, kept));
    if (live_) return Snapshot();
    std::vector<ManifestFile> manifests = append_.manifests;
    manifests.insert(manifests.end(), kept.begin(), kept.end());
    DeleteChanges changes;
    if (deletes_ != nullptr) {
      ASSIGN_OR_RETURN(changes, TakeRowsAway(table, parent, manifests));
      if (append_.manifests.empty() && changes.manifests.empty()) return Snapshot();
      const auto replaced = [&](const ManifestFile& one) {
        return changes.replaced.contains(one.manifest_path);
      };
      std::erase_if(manifests, replaced);
      manifests.insert(manifests.end(), changes.manifests.begin(), changes.manifests.end());
    }
    snapshot.summary = CommitSummary(parent, append_, changes);
    for (const auto& [key, value] : options_.summary) snapshot.summary[key] = value;
    for (const auto& [key, value] : TokenSummary(token_)) snapshot.summary[key] = value;
    ASSIGN_OR_RETURN(const WrittenManifestList list,
                     WriteManifestList(manifests, {.format_version = table.format_version,
                                                   .snapshot_id = snapshot_id_,
                                                   .parent_snapshot_id = snapshot.parent_snapshot_id,
                                                   .sequence_number = snapshot.sequence_number,
                                                   .first_row_id = table.next_row_id,
                                                   .sync = RandomMarker(files_.env())}));
    if (table.format_version >= 3) {
      snapshot.first_row_id = table.next_row_id;
      snapshot.added_rows = list.added_rows;
    }
    snapshot.manifest_list = fmt::format("{}/snap-{}-{}-{}.avro", MetadataFolder(table), snapshot_id_,
                                         attempts_, append_.commit_uuid);
    RETURN_IF_ERROR(files_.Write(snapshot.manifest_list, list.bytes));
    written_.push_back(snapshot.manifest_list);
    return snapshot;
  }

  // Whether the files are the head's already: an earlier try was taken, and its token has expired. Manifests
  // are looked into only if that may be.
  Result<bool> IsLive(const TableMetadata& table, const Snapshot* parent,
                      const std::vector<ManifestFile>& kept) const {
    std::set<std::string> listed;
    for (const ManifestFile& manifest : kept) listed.insert(manifest.manifest_path);
    for (const ManifestFile& manifest : append_.manifests) {
      if (listed.contains(manifest.manifest_path)) return true;
    }
    if (append_.manifests.empty() || !TokensMayHaveExpired(table, parent)) return false;
    HeadFiles head;
    RETURN_IF_ERROR(head.Load(files_, kept));
    HeadFiles added;
    RETURN_IF_ERROR(added.Load(files_, append_.manifests));
    return head.HasAnyOf(added);
  }

  // None of the pipeline's epochs is in the history, which does not go back to its beginning: the first
  // snapshot of a table has the first number. A service may show the newest alone, without a parent, as
  // Nessie's does.
  bool TokensMayHaveExpired(const TableMetadata& table, const Snapshot* at) const {
    if (at == nullptr || FindToken(table, options_.branch, token_).newest) return false;
    std::set<int64_t> seen;
    while (at->parent_snapshot_id && seen.insert(at->snapshot_id).second) {
      at = table.FindSnapshot(*at->parent_snapshot_id);
      if (at == nullptr) return true;
    }
    return at->sequence_number > 1;
  }

  Result<DeleteChanges> TakeRowsAway(const TableMetadata& table, const Snapshot* parent,
                                     const std::vector<ManifestFile>& manifests) {
    ASSIGN_OR_RETURN(DeletedRows rows, deletes_->Find(table, parent));
    if (rows.empty()) return DeleteChanges();
    RETURN_IF_ERROR(known_->Load(files_, manifests));
    Status fits = CheckDeletedRows(*known_, rows);
    if (!fits.ok()) {
      ASSIGN_OR_RETURN(const bool again, deletes_->Reconsider(table, parent));
      if (!again) return fits;
      ASSIGN_OR_RETURN(rows, deletes_->Find(table, parent));
      RETURN_IF_ERROR(CheckDeletedRows(*known_, rows));
    }
    return MakeDeleteChanges(
        {&files_, &table, known_, fmt::format("{}-{}", append_.commit_uuid, snapshot_id_)}, rows, &written_);
  }

  // An orphan, no more, is what cannot be removed.
  void RemoveWritten() {
    for (const std::string& location : written_) (void)files_.Remove(location).ok();
    written_.clear();
  }

  Status GiveUp(int64_t tries) const {
    const std::string_view state = unknown_ ? "is not certain" : "was refused";
    return Status::External(fmt::format("the commit to table '{}' {} after {} tries: {}", name_.ToString(),
                                        state, tries, last_.message()),
                            Retry::kBackoff)
        .Hint("nothing is lost: the same commit may be repeated, and finds what an earlier try has done");
  }

  Catalog* catalog_;
  const TableFiles& files_;
  const TableName& name_;
  const PreparedAppend& append_;
  const PipelineToken& token_;
  const AppendOptions& options_;
  RowDeletes* deletes_ = nullptr;
  HeadFiles* known_ = nullptr;
  int64_t snapshot_id_ = 0;           // of the last attempt
  std::vector<std::string> written_;  // by the last attempt, for it alone
  AppendOutcome done_;
  std::set<int64_t> tried_;  // of every one
  int attempts_ = 0;
  bool unknown_ = false;
  bool live_ = false;  // the files are the head's already
  Status last_;
};

}  // namespace

Result<PreparedAppend> PrepareAppend(const TableFiles& files, const TableMetadata& table, int32_t spec_id,
                                     const std::vector<DataFile>& data, const std::string& name) {
  const PartitionSpec* spec = table.FindSpec(spec_id);
  if (spec == nullptr) return Status::Internal(fmt::format("the table has no partition spec {}", spec_id));
  PreparedAppend append{.table_uuid = table.table_uuid,
                        .commit_uuid = name.empty() ? files.NewUuid() : name,
                        .schema_id = table.current_schema_id};
  if (data.empty()) return append;
  ASSIGN_OR_RETURN(
      ManifestWriter writer,
      ManifestWriter::Make(*table.FindSchema(table.current_schema_id), *spec,
                           {.format_version = table.format_version, .sync = RandomMarker(files.env())}));
  std::set<std::string> paths;
  ASSIGN_OR_RETURN(const std::vector<Type> types,
                   PartitionTypes(*table.FindSchema(table.current_schema_id), *spec));
  for (const DataFile& file : data) {
    if (!paths.insert(file.file_path).second) {
      return Status::Internal(fmt::format("'{}' is appended twice", file.file_path));
    }
    RETURN_IF_ERROR(writer.Add({.file = file}));
    append.partitions.insert(fmt::format("{} {}", spec_id, PartitionPath(*spec, types, file.partition)));
    append.records += file.record_count;
    append.bytes += file.file_size_in_bytes;
  }
  append.files = static_cast<int64_t>(data.size());
  ASSIGN_OR_RETURN(ManifestWriter::Written written, writer.Finish());
  written.manifest.manifest_path = fmt::format("{}/{}-m0.avro", MetadataFolder(table), append.commit_uuid);
  RETURN_IF_ERROR(files.Write(written.manifest.manifest_path, written.bytes));
  append.manifests.push_back(std::move(written.manifest));
  return append;
}

PreparedAppend JoinAppends(const std::vector<PreparedAppend>& parts) {
  PreparedAppend joined;
  for (const PreparedAppend& part : parts) {
    if (joined.table_uuid.empty()) {
      joined.table_uuid = part.table_uuid;
      joined.commit_uuid = part.commit_uuid;
    }
    joined.schema_id = std::max(joined.schema_id, part.schema_id);
    joined.manifests.insert(joined.manifests.end(), part.manifests.begin(), part.manifests.end());
    joined.files += part.files;
    joined.records += part.records;
    joined.bytes += part.bytes;
    joined.partitions.insert(part.partitions.begin(), part.partitions.end());
  }
  return joined;
}

Result<AppendOutcome> CommitAppend(Catalog* catalog, const TableFiles& files, const TableName& name,
                                   const PreparedAppend& append, const PipelineToken& token,
                                   const AppendOptions& options) {
  return AppendCommit(catalog, files, name, append, token, options).Run();
}

Result<AppendOutcome> CommitRowDelta(Catalog* catalog, const TableFiles& files, const TableName& name,
                                     const PreparedAppend& append, RowDeletes* deletes, HeadFiles* known,
                                     const PipelineToken& token, const AppendOptions& options) {
  AppendCommit commit(catalog, files, name, append, token, options);
  commit.Delete(deletes, known);
  return commit.Run();
}

}  // namespace caudal::iceberg
