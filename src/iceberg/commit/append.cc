#include "iceberg/commit/append.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "iceberg/commit/row_delta.h"
#include "iceberg/commit/snapshot_summary.h"
#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/partition_path.h"
#include "iceberg/snapshot/new_snapshot.h"
#include "iceberg/snapshot/snapshot_commit.h"

namespace caudal::iceberg {
namespace {

// The loop is SnapshotCommit's. What is an append's own are the token, and the files that may be there
// already.
class AppendMaker : public SnapshotMaker {
 public:
  AppendMaker(const TableFiles& files, const TableName& name, const PreparedAppend& append,
              const PipelineToken& token, const AppendOptions& options)
      : files_(files), name_(name), append_(append), token_(token), options_(options) {}

  // Rows are taken away too.
  void Delete(RowDeletes* deletes, HeadFiles* known) {
    deletes_ = deletes;
    known_ = known;
  }

  Result<AppendOutcome> Commit(Catalog* catalog) {
    SnapshotCommitOptions how;
    how.branch = options_.branch;
    how.makes_branch = true;
    how.retries_of_table = true;
    how.wait = options_.wait;
    SnapshotCommit commit(catalog, files_, name_, this, how);
    RETURN_IF_ERROR(commit.Run());
    done_.attempts = commit.attempts();
    return done_;
  }

  Result<bool> IsSettled(const TableMetadata& table, const std::set<int64_t>& asked) override {
    RETURN_IF_ERROR(CheckRequirements(table, {AssertTableUuid{append_.table_uuid}}));
    const TokenFinding finding = FindToken(table, options_.branch, token_);
    if (finding.search == TokenSearch::kAbsent) return false;
    // Found after an attempt of ours without an answer: it was that one.
    const bool ours = finding.search == TokenSearch::kFound && asked.contains(finding.snapshot_id);
    done_.result = ours                                    ? AppendResult::kCommitted
                   : finding.search == TokenSearch::kFound ? AppendResult::kFound
                                                           : AppendResult::kSuperseded;
    const Snapshot& snapshot = *table.FindSnapshot(finding.snapshot_id);
    done_.snapshot_id = snapshot.snapshot_id;
    done_.sequence_number = snapshot.sequence_number;
    done_.parent_id = snapshot.parent_snapshot_id.value_or(0);
    return true;
  }

  Result<std::optional<SnapshotContents>> Make(const SnapshotAttempt& attempt) override {
    const TableMetadata& table = *attempt.table;
    std::vector<ManifestFile> kept;
    if (attempt.head != nullptr) {
      ASSIGN_OR_RETURN(const std::string bytes, files_.Read(attempt.head->manifest_list));
      ASSIGN_OR_RETURN(kept, ReadManifestList(bytes, attempt.head->manifest_list));
      // What only tells of files that are gone has been told by the snapshot that wrote it.
      std::erase_if(kept, [](const ManifestFile& manifest) { return !manifest.has_live_files(); });
    }
    ASSIGN_OR_RETURN(const bool is_live, IsLive(table, attempt.head, kept));
    if (is_live) return Nothing(AppendResult::kFound);
    std::vector<ManifestFile> manifests = append_.manifests;
    manifests.insert(manifests.end(), kept.begin(), kept.end());
    DeleteChanges changes;
    if (deletes_ != nullptr) {
      ASSIGN_OR_RETURN(changes, TakeRowsAway(attempt, manifests));
      if (append_.manifests.empty() && changes.manifests.empty()) return Nothing(AppendResult::kCommitted);
      const auto replaced = [&](const ManifestFile& one) {
        return changes.replaced.contains(one.manifest_path);
      };
      std::erase_if(manifests, replaced);
      manifests.insert(manifests.end(), changes.manifests.begin(), changes.manifests.end());
    }
    done_ = {AppendResult::kCommitted, attempt.snapshot_id, 0, attempt.sequence_number,
             attempt.head == nullptr ? 0 : attempt.head->snapshot_id};
    SnapshotContents contents{.manifests = std::move(manifests),
                              .summary = CommitSummary(attempt.head, append_, changes),
                              .schema_id = append_.schema_id,
                              .name = append_.commit_uuid};
    for (const auto& [key, value] : options_.summary) contents.summary[key] = value;
    for (const auto& [key, value] : TokenSummary(token_)) contents.summary[key] = value;
    return std::optional(std::move(contents));
  }

  Status GaveUp(int64_t attempts, bool unknown, const Status& last) const override {
    return Status::External(fmt::format("the commit to table '{}' {} after {} tries: {}", name_.ToString(),
                                        unknown ? "is not certain" : "was refused", attempts, last.message()),
                            Retry::kBackoff)
        .Hint("nothing is lost: the same commit may be repeated, and finds what an earlier try has done");
  }

 private:
  std::optional<SnapshotContents> Nothing(AppendResult result) {
    done_ = {result};
    return std::nullopt;
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

  Result<DeleteChanges> TakeRowsAway(const SnapshotAttempt& attempt,
                                     const std::vector<ManifestFile>& manifests) {
    const TableMetadata& table = *attempt.table;
    ASSIGN_OR_RETURN(DeletedRows rows, deletes_->Find(table, attempt.head));
    if (rows.empty()) return DeleteChanges();
    RETURN_IF_ERROR(known_->Load(files_, manifests));
    Status fits = CheckDeletedRows(*known_, rows);
    if (!fits.ok()) {
      ASSIGN_OR_RETURN(const bool again, deletes_->Reconsider(table, attempt.head));
      if (!again) return fits;
      ASSIGN_OR_RETURN(rows, deletes_->Find(table, attempt.head));
      RETURN_IF_ERROR(CheckDeletedRows(*known_, rows));
    }
    const std::string name = fmt::format("{}-{}", append_.commit_uuid, attempt.snapshot_id);
    return MakeDeleteChanges({&files_, &table, known_, name}, rows, attempt.written);
  }

  const TableFiles& files_;
  const TableName& name_;
  const PreparedAppend& append_;
  const PipelineToken& token_;
  const AppendOptions& options_;
  RowDeletes* deletes_ = nullptr;
  HeadFiles* known_ = nullptr;
  AppendOutcome done_;  // how it ended; of an attempt on its way, how it will if it is taken
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
  return AppendMaker(files, name, append, token, options).Commit(catalog);
}

Result<AppendOutcome> CommitRowDelta(Catalog* catalog, const TableFiles& files, const TableName& name,
                                     const PreparedAppend& append, RowDeletes* deletes, HeadFiles* known,
                                     const PipelineToken& token, const AppendOptions& options) {
  AppendMaker maker(files, name, append, token, options);
  maker.Delete(deletes, known);
  return maker.Commit(catalog);
}

}  // namespace caudal::iceberg
